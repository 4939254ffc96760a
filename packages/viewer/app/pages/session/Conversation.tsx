/** A session's stream: rows of calls and messages, of which those near the visible part exist. */
import type { RefObject } from "preact"
import { Sought } from "../../find/Sought.ts"
import type { Find } from "../../find/useFind.ts"
import * as Scroll from "../../route/Scroll.ts"
import * as Reading from "../../settings/Reading.ts"
import * as Words from "../../text/Words.ts"
import { CallMark } from "./CallMark.tsx"
import type { Item } from "./StreamItems.ts"
import { InstructionsRow } from "./InstructionsRow.tsx"
import { MessageRow } from "./MessageRow.tsx"
import type { Selected } from "./useSelected.ts"
import type { SessionStream } from "./useStream.ts"
import { type ListHandle, VirtualList } from "./VirtualList.tsx"

/** Rough heights of rows that have not been measured (pixels). */
const callHeight = 52
const instructionsHeight = 36
const charactersPerLine = 90
const lineHeight = 24

const estimate = (item: Item | undefined): number => {
  if (item === undefined) return 60
  if (item.kind === "call") return callHeight
  if (item.kind === "instructions") return instructionsHeight
  const texts = item.message.parts.map((part) =>
    part.type === "text" && item.message.instruction_parts === undefined
      ? Math.min(Words.ofPart(part).length / charactersPerLine, 150)
      : 1.3
  )
  return 28 + lineHeight * texts.reduce((sum, lines) => sum + Math.max(1, lines), 0)
}

/** A click that selects text, or on something that does its own, selects no row. */
const isOwnClick = (event: MouseEvent): boolean =>
  (event.target as Element).closest("a, button, summary, input") === null && getSelection()?.isCollapsed !== false

interface Props {
  readonly of: SessionStream
  readonly selected: Selected
  readonly find: Find
  readonly isLoading: boolean
  readonly scroller: RefObject<HTMLDivElement | null>
  readonly list: RefObject<ListHandle | null>
  /** What to do when the person scrolls. */
  readonly stay: () => void
  /** What to do when the end is far from what is seen (pixels). */
  readonly scrolled: (pixelsToEnd: number) => void
}

const useRow = ({ find: { current, words }, of, selected }: Props) => {
  const { answered, carried, stream, threadOf, threads, toolCalls } = of
  const { items, results } = stream
  const reading = Reading.use()
  return (index: number) => {
    const item = items[index]!
    const select = () => selected.select(index)
    return (
      <div class={index === selected.index ? "row selected" : "row"} onClick={(event) => isOwnClick(event) && select()}>
        {item.kind === "call" && (
          <CallMark
            call={item.call}
            number={item.number}
            retried={item.retried}
            thread={threads.length > 1 ? threadOf.get(item.call.event_id) : undefined}
          />
        )}
        <Sought.Provider value={current?.row === index ? words : ""}>
          {item.kind === "instructions" && <InstructionsRow call={item.call} isMarkdown={reading.isMarkdown} />}
          {item.kind === "message" && (
            <MessageRow
              message={item.message}
              results={results}
              answered={answered}
              toolCalls={toolCalls}
              carried={carried.get(item.message.number)}
              {...reading}
            />
          )}
        </Sought.Provider>
      </div>
    )
  }
}

export const Conversation = (props: Props) => {
  const { isLoading, list, of, scrolled, scroller, stay } = props
  const { items } = of.stream
  const row = useRow(props)
  return (
    <div
      class="scroller"
      ref={scroller}
      tabIndex={0}
      role="region"
      aria-label="The conversation"
      onWheel={stay}
      onTouchMove={stay}
      onPointerDown={stay}
      onScroll={({ currentTarget: { clientHeight, scrollHeight, scrollTop } }) => {
        Scroll.remember("session", scrollTop)
        scrolled(scrollHeight - scrollTop - clientHeight)
      }}
    >
      <VirtualList
        scroller={scroller}
        handle={list}
        count={items.length}
        keyOf={(index) => items[index]?.key ?? String(index)}
        estimate={(index) => estimate(items[index])}
        row={row}
        label="The conversation"
      />
      {isLoading && <p class="state">Loading the rest…</p>}
      {!isLoading && !of.hasMessages && (
        <p class="state">No message was found in these calls. The page of each has its JSON as it was sent.</p>
      )}
    </div>
  )
}
