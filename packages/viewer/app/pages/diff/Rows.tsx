/** The messages of both: equal ones folded, different ones beside each other, and those that only one has. */
import type { Compared } from "@tachograph/client/compare"
import type { ComponentChildren } from "preact"
import { useMemo } from "preact/hooks"
import { changesOf } from "../../diff/changes.ts"
import { Changes } from "../../diff/WordDiff.tsx"
import { Damaged } from "../../parts/Damaged.tsx"
import { Fold } from "../../parts/message/Fold.tsx"
import { Messages } from "../../parts/message/Messages.tsx"
import { Text } from "../../parts/Text.tsx"
import { useSome } from "../../parts/useSome.tsx"
import * as Format from "../../text/Format.ts"
import { Plain } from "../../text/Plain.tsx"
import * as Words from "../../text/Words.ts"
import type { Said } from "./useSide.ts"

const Equal = ({ messages }: { readonly messages: ReadonlyArray<Said> }) => {
  const [count, more] = useSome(messages.length)
  return (
    <>
      <Messages messages={messages.slice(0, count)} />
      {more}
    </>
  )
}

interface CellProps {
  readonly side: "A" | "B"
  readonly about: ComponentChildren
  readonly children: ComponentChildren
}

const Cell = ({ about, children, side }: CellProps) => (
  <div class="half">
    <div class="role">
      <b class="side-name">{side}</b> {about}
    </div>
    {children}
  </div>
)

const Different = ({ after, before }: { readonly before: Said; readonly after: Said }) => {
  const [one, other] = [Words.ofMessage(before), Words.ofMessage(after)]
  const changes = useMemo(() => changesOf(one, other), [one, other])
  const cell = (side: "A" | "B", only: "before" | "after", message: Said, text: string) => (
    <Cell
      side={side}
      about={
        <>
          <Plain text={message.role} /> <small>#{message.number}</small>
        </>
      }
    >
      {message.is_damaged === true && <Damaged />}
      {changes === undefined ? (
        <Text text={text} isMarkdown={false} first={4_000} />
      ) : (
        <Changes changes={changes} only={only} />
      )}
    </Cell>
  )
  return (
    <>
      {cell("A", "before", before, one)}
      {cell("B", "after", after, other)}
      {one === other && before.is_damaged !== true && <p class="hint">What differs in them is no text.</p>}
      {changes === undefined && <p class="hint">These texts differ too much to be compared word by word.</p>}
    </>
  )
}

/** Shown where the one that has it stands. */
const Alone = ({ message, side }: { readonly message: Said; readonly side: "A" | "B" }) => (
  <>
    {side === "B" && <div class="half missing" />}
    <Cell side={side} about={<small>only here</small>}>
      <Messages messages={[message]} />
    </Cell>
    {side === "A" && <div class="half missing" />}
  </>
)

const Row = ({ row }: { readonly row: Compared<Said> }) => {
  switch (row.kind) {
    case "equal":
      return (
        <Fold class="equal" isOpen={false} summary={`${Format.counted(row.before.length, "equal message")}`}>
          {() => <Equal messages={row.before} />}
        </Fold>
      )
    case "different":
      return (
        <div class="pair">
          <Different {...row} />
        </div>
      )
    case "only-before":
      return (
        <div class="pair alone">
          <Alone side="A" message={row.before} />
        </div>
      )
    case "only-after":
      return (
        <div class="pair alone">
          <Alone side="B" message={row.after} />
        </div>
      )
  }
}

export const Rows = ({ rows }: { readonly rows: ReadonlyArray<Compared<Said>> }) => (
  <>
    {rows.map((row, index) => (
      <Row key={index} row={row} />
    ))}
  </>
)
