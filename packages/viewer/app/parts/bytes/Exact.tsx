/** The bytes of a text exactly as they were sent, in rows of which only the visible ones are decoded. */
import { useCallback, useEffect, useRef, useState } from "preact/hooks"
import { type Opened, useDocument } from "../../bytes/useDocument.ts"
import { FindBar } from "../../find/FindBar.tsx"
import * as Highlight from "../../find/Highlight.ts"
import { useKeys } from "../../keyboard/Keys.ts"
import { Failed, Loading } from "../States.tsx"
import { useResolved } from "../useResolved.ts"
import * as Copy from "../../text/Copy.ts"
import * as Format from "../../text/Format.ts"
import { Plain } from "../../text/Plain.tsx"

/** Height of a row (pixels), as the style sheet has it, and rows beyond the visible ones. */
const rowHeight = 20
const overscanRows = 30

/** Browsers lay out no element that is much higher (pixels): longer texts scroll in larger steps. */
const maxHeight = 8_000_000

/** More bytes are not copied: the clipboard takes them as text. */
const maxCopied = 64_000_000

const useRows = ({ document }: Opened, from: number, to: number) => {
  const [rows, setRows] = useState<{ readonly from: number; readonly texts: ReadonlyArray<string> }>({
    from: 0,
    texts: []
  })
  useResolved(
    () => document.readRows(from, to),
    (texts) => setRows({ from, texts }),
    [document, from, to]
  )
  return rows
}

const Rows = ({ opened }: { readonly opened: Opened }) => {
  const { document } = opened
  const scroller = useRef<HTMLDivElement>(null)
  const [top, setTop] = useState(0)
  const [height, setHeight] = useState(600)
  const total = document.rows * rowHeight
  const laidOut = Math.min(total, maxHeight)
  const scale = total <= height ? 1 : (total - height) / Math.max(1, laidOut - height)
  const firstVisible = Math.floor((top * scale) / rowHeight)
  const from = Math.max(0, firstVisible - overscanRows)
  const to = Math.min(document.rows, firstVisible + Math.ceil(height / rowHeight) + overscanRows)
  const rows = useRows(opened, from, to)
  useEffect(() => {
    const observer = new ResizeObserver(([entry]) => setHeight(entry!.contentRect.height))
    observer.observe(scroller.current!)
    return () => observer.disconnect()
  }, [])
  const goTo = useCallback(
    (row: number) => scroller.current?.scrollTo({ top: Math.max(0, ((row - 4) * rowHeight) / scale) }),
    [scale]
  )
  const find = useFound(opened, goTo)
  useEffect(() => {
    if (!find.isOpen || find.words === "") return Highlight.clear()
    const root = scroller.current
    const current = find.row === undefined ? null : (root?.querySelector(`[data-row="${find.row}"]`) ?? null)
    if (root !== null) Highlight.mark(root, find.words.toLowerCase(), current)
    return Highlight.clear
  }, [find.isOpen, find.words, find.row, rows])
  useKeys([
    { keys: "Mod+f", does: "Find (twice: the browser's)", run: () => (find.isOpen ? false : find.open()) },
    {
      keys: "c b",
      does: "Copy the exact bytes",
      run: async () => document.size <= maxCopied && Copy.text(await document.text(0, document.size))
    }
  ])
  return (
    <>
      {find.isOpen && <FindBar {...find} />}
      <div
        class="raw"
        ref={scroller}
        tabIndex={0}
        role="region"
        aria-label="The bytes as they were sent"
        onScroll={({ currentTarget }) => setTop(currentTarget.scrollTop)}
      >
        <div style={{ height: `${laidOut}px` }}>
          <div class="raw-rows" style={{ transform: `translateY(${rows.from * rowHeight - top * scale + top}px)` }}>
            {rows.texts.map((text, index) => (
              <div key={rows.from + index} class="raw-row" data-row={rows.from + index}>
                <Plain text={text.replace(/\n$/, "")} />
              </div>
            ))}
          </div>
        </div>
      </div>
    </>
  )
}

/** What is found in a text, by its worker. */
const useFound = ({ document }: Opened, goTo: (row: number) => void) => {
  const [isOpen, setOpen] = useState(false)
  const [words, setWords] = useState("")
  const [found, setFound] = useState<{ readonly rows: Uint32Array; readonly index: number }>({
    rows: new Uint32Array(),
    index: 0
  })
  useResolved(
    () => document.find(words),
    ({ rows }) => {
      setFound({ rows, index: 0 })
      if (rows.length > 0) goTo(rows[0]!)
    },
    [document, words]
  )
  const count = found.rows.length
  const step = (by: number) => {
    if (count === 0) return
    const index = (found.index + by + count) % count
    setFound({ ...found, index })
    goTo(found.rows[index]!)
  }
  return {
    isOpen,
    words,
    count,
    index: count === 0 ? -1 : found.index,
    row: found.rows[found.index],
    open: () => setOpen(true),
    close: () => setOpen(false),
    set: setWords,
    step
  }
}

/** `parts` is the path of the text below the API. */
export const Exact = ({ parts }: { readonly parts: ReadonlyArray<string> }) => {
  const { again, error, opened } = useDocument(parts)
  if (error !== undefined) return <Failed error={error} again={again} />
  if (opened === undefined) return <Loading what="the bytes" />
  return (
    <div class="exact">
      <p class="digest">
        {Format.count(opened.document.size)} bytes, SHA-256 <code>{opened.sha256}</code>{" "}
        <button type="button" class="quiet" onClick={() => void Copy.text(opened.sha256)}>
          Copy digest
        </button>
      </p>
      <Rows opened={opened} />
    </div>
  )
}
