/** A text as a tree of JSON, read only where it is opened, with every value as it is written. */
import { useState } from "preact/hooks"
import type { Document } from "../../bytes/Document.ts"
import type { Child } from "../../bytes/Scan.ts"
import { useDocument } from "../../bytes/useDocument.ts"
import { Failed, Loading } from "../../parts/States.tsx"
import { useResolved } from "../../parts/useResolved.ts"
import * as Copy from "../../text/Copy.ts"
import * as Format from "../../text/Format.ts"
import { Plain } from "../../text/Plain.tsx"

/** Values that an object or array shows at first, and with each step. */
const stepValues = 100

/** Bytes of a value that are shown at first. */
const firstBytes = 2_000

/** Objects and arrays up to this size (bytes) are open at first, to this depth. */
const openBytes = 400
const openDepth = 1

interface NodeProps {
  readonly document: Document
  readonly child: Child
  readonly depth: number
}

const Leaf = ({ child: { end, start }, document }: NodeProps) => {
  const [shown, setShown] = useState(firstBytes)
  const [text, setText] = useState("")
  const to = Math.min(end, start + shown)
  useResolved(() => document.text(start, to), setText, [document, start, to])
  return (
    <>
      <Plain as="span" class={text.startsWith('"') ? "string" : "literal"} text={text} />
      {to < end && (
        <button type="button" class="more-text" onClick={() => setShown(50 * shown)}>
          Show more of {Format.bytes(end - start)}
        </button>
      )}
    </>
  )
}

const Children = ({ child, depth, document }: NodeProps) => {
  const [children, setChildren] = useState<ReadonlyArray<Child>>()
  const [shown, setShown] = useState(stepValues)
  useResolved(() => document.children(child.start), setChildren, [document, child.start])
  if (children === undefined) return <div class="children">…</div>
  return (
    <ul class="children">
      {children.slice(0, shown).map((each, index) => (
        <li key={each.start}>
          <Node document={document} child={each} depth={depth + 1} index={index} />
        </li>
      ))}
      {children.length > shown && (
        <li>
          <button type="button" class="more-text" onClick={() => setShown(shown + 10 * stepValues)}>
            {Format.count(children.length - shown)} more
          </button>
        </li>
      )}
    </ul>
  )
}

const Node = ({ child, depth, document, index }: NodeProps & { readonly index?: number }) => {
  const size = child.end - child.start
  const [kind, setKind] = useState<"{" | "[" | "leaf">()
  const [isOpen, setOpen] = useState(depth <= openDepth || size <= openBytes)
  useResolved(
    () => document.text(child.start, child.start + 1),
    (first) => setKind(first === "{" || first === "[" ? first : "leaf"),
    [document, child.start]
  )
  const name =
    child.key === undefined ? (
      index !== undefined && <span class="index">{index}</span>
    ) : (
      <Plain as="span" class="key" text={child.key} />
    )
  if (kind === undefined) return <span>{name}</span>
  if (kind === "leaf") {
    return (
      <div class="leaf">
        {name}
        <Leaf document={document} child={child} depth={depth} />
      </div>
    )
  }
  return (
    <div class="node">
      <details open={isOpen} onToggle={({ currentTarget }) => setOpen(currentTarget.open)}>
        <summary>
          {name}
          <span class="kind">
            {kind === "{" ? "object" : "array"}, {Format.bytes(size)}
          </span>
        </summary>
        {isOpen && <Children document={document} child={child} depth={depth} />}
      </details>
      <button
        type="button"
        class="quiet"
        title="Copy this value as it was sent"
        onClick={async () => Copy.text(await document.text(child.start, child.end))}
      >
        Copy
      </button>
    </div>
  )
}

export const JsonTab = ({ parts }: { readonly parts: ReadonlyArray<string> }) => {
  const { again, error, opened } = useDocument(parts)
  if (error !== undefined) return <Failed error={error} again={again} />
  if (opened === undefined) return <Loading what="the bytes" />
  const { document } = opened
  return (
    <div class="json">
      <Node document={document} child={{ key: undefined, start: document.root, end: document.size }} depth={0} />
    </div>
  )
}
