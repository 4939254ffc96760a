/** `#/sessions/{id}`: one growing stream, with the calls as marks. */
import { useCallback, useEffect, useMemo, useRef, useState } from "preact/hooks"
import { FindBar } from "../../find/FindBar.tsx"
import * as Highlight from "../../find/Highlight.ts"
import { Sought } from "../../find/Sought.ts"
import { useFind } from "../../find/useFind.ts"
import { blurControl, useKeys } from "../../keyboard/Keys.ts"
import { Reconnecting, RestMissing } from "../../parts/Banner.tsx"
import { Empty, Failed, Loading } from "../../parts/States.tsx"
import type { PageProps } from "../../route/PageProps.ts"
import * as LastList from "../../route/LastList.ts"
import * as Route from "../../route/Route.ts"
import * as Scroll from "../../route/Scroll.ts"
import * as Reading from "../../settings/Reading.ts"
import * as Copy from "../../text/Copy.ts"
import { plain } from "../../text/Hidden.ts"
import * as Words from "../../text/Words.ts"
import { CallMark } from "./CallMark.tsx"
import { carriedOf } from "./Carried.ts"
import { CallsTable } from "./CallsTable.tsx"
import { Head } from "./Head.tsx"
import { indexOfMessage, isRewrite, type Item, streamOf, wordsOf } from "./Items.ts"
import { MessageRow } from "./MessageRow.tsx"
import { Side } from "./Side.tsx"
import { Strip } from "./Strip.tsx"
import { threadsOf } from "./Threads.ts"
import { useSession } from "./useSession.ts"
import { type ListHandle, VirtualList } from "./VirtualList.tsx"

/** Rough heights of rows that have not been measured (pixels). */
const callHeight = 52
const charactersPerLine = 90
const lineHeight = 24

const estimate = (item: Item | undefined): number => {
  if (item === undefined) return 60
  if (item.kind === "call") return callHeight
  const texts = item.message.parts.map((part) =>
    part.type === "text" ? Math.min(Words.ofPart(part).length / charactersPerLine, 150) : 1.3
  )
  return 28 + lineHeight * texts.reduce((sum, lines) => sum + Math.max(1, lines), 0)
}

/** When it is looked again whether what is selected is in view (ms). */
const settleMs = [30, 120, 400]

/** How near to its end the list counts as being at the end (pixels). */
const endPixels = 80

export const SessionPage = ({ query, rest }: PageProps) => {
  const id = rest[0]!
  const state = useSession(id)
  const { calls, messages, session } = state
  const [isFollowing, setFollowing] = useState(false)
  const [isSideOpen, setSideOpen] = useState(false)
  const scroller = useRef<HTMLDivElement>(null)
  const list = useRef<ListHandle>(null)
  const isTable = query.get("view") === "table"

  const threads = useMemo(() => threadsOf(calls), [calls])
  const thread = Number(query.get("thread")) || undefined
  const shown = useMemo(() => {
    const one = threads.find(({ number }) => number === thread)
    return one === undefined ? undefined : new Set(one.calls.map(({ event_id }) => event_id))
  }, [threads, thread])
  const threadOf = useMemo(
    () => new Map(threads.flatMap(({ calls, number }) => calls.map(({ event_id }) => [event_id, number] as const))),
    [threads]
  )
  const stream = useMemo(() => streamOf(calls, messages, shown), [calls, messages, shown])
  const { callsById, items, results } = stream
  const carried = useMemo(() => carriedOf(calls), [calls])
  const answered = useMemo(() => new Set(Array.from(results.values(), ({ part }) => part)), [results])

  // What is selected is in the place: a call, or a message.
  const callId = query.get("call")
  const messageNumber = Number(query.get("message")) || undefined
  const selected = useMemo(() => {
    if (messageNumber !== undefined) return indexOfMessage(stream, messageNumber)
    return callId === null ? -1 : items.findIndex(({ key }) => key === callId)
  }, [stream, callId, messageNumber])
  const selectedItem = items[selected]
  const selectedCall = selectedItem?.call

  const select = useCallback(
    (index: number) => {
      const item = items[index]
      if (item === undefined) return
      if (item.kind === "call") Route.amend({ call: item.call.event_id, message: null })
      else Route.amend({ message: item.message.number, call: null })
    },
    [items]
  )

  // Goes to what the place says, whenever it says something else; and again while rows come before it, until the person scrolls.
  const wanted = `${callId} ${messageNumber} ${thread} ${isTable}`
  const arrived = useRef("")
  const stay = () => void (arrived.current = wanted)
  useEffect(() => {
    if (selected === -1 || isTable || arrived.current === wanted) return
    const show = () => {
      if (arrived.current === wanted) return
      const element = scroller.current?.querySelector(`[data-index="${selected}"]`)
      if (element !== null && element !== undefined) element.scrollIntoView({ block: "nearest" })
      else list.current?.scrollTo(selected, "center")
    }
    show()
    // Rows move while those before them are measured.
    const timers = settleMs.map((ms) => setTimeout(show, ms))
    if (!state.isLoading) timers.push(setTimeout(stay, settleMs.at(-1)! + 1))
    return () => timers.forEach(clearTimeout)
  }, [selected, wanted, items.length, state.isLoading])

  // Going back restores the scroll.
  const isRestored = useRef(false)
  useEffect(() => {
    if (isRestored.current || items.length === 0 || scroller.current === null) return
    const offset = Scroll.recall("session")
    if (offset === undefined || state.isLoading === false) isRestored.current = true
    if (offset === undefined) return
    scroller.current.scrollTop = offset
    if (scroller.current.scrollTop >= offset - 1) isRestored.current = true
  }, [items, state.isLoading])

  useEffect(() => {
    if (isFollowing) list.current?.scrollTo(items.length - 1, "start")
  }, [items.length, isFollowing])

  const wordsAt = useCallback((row: number) => wordsOf(items[row]!, results), [items, results])
  const find = useFind(items.length, wordsAt)
  const { current, words } = find
  useEffect(() => {
    if (words === "") return Highlight.clear()
    if (current !== undefined) list.current?.scrollTo(current.row, "auto")
    // After the row is there, and what is folded in it is open.
    const timers = [0, 120].map((ms) =>
      setTimeout(() => {
        const root = scroller.current
        const row = current === undefined ? null : (root?.querySelector(`[data-index="${current.row}"]`) ?? null)
        if (root !== null) Highlight.show(root, words, row, current?.within ?? 0)
      }, ms)
    )
    return () => timers.forEach(clearTimeout)
  }, [words, current?.row, current?.within])
  useEffect(() => Highlight.clear, [])

  const text = Reading.text.use()
  const thinking = Reading.thinking.use()
  const tools = Reading.tools.use()

  /** Selects the next item that matches. Returns whether there is one. */
  const step = (from: number, by: 1 | -1, matches: (item: Item) => boolean): boolean => {
    for (let index = from + by; index >= 0 && index < items.length; index += by) {
      if (!matches(items[index]!)) continue
      blurControl()
      select(index)
      return true
    }
    return false
  }
  const isCall = (item: Item) => item.kind === "call"
  const isRow = (item: Item) => !isTable || isCall(item)
  const isFailed = (item: Item) => isCall(item) && item.call.error_type !== null
  /** After the last one, the first. */
  const nextError = () => step(selected, 1, isFailed) || step(-1, 1, isFailed)
  // In the conversation. The table is whole on the page: the browser finds in it.
  const openFind = () => {
    if (isTable) Route.amend({ view: null })
    find.open()
  }
  const open = () => selectedCall !== undefined && Route.go(Route.to(["events", selectedCall.event_id]))
  useKeys([
    { keys: "j", does: "Next row", run: () => step(selected, 1, isRow) },
    { keys: "k", does: "Previous row", run: () => step(selected === -1 ? items.length : selected, -1, isRow) },
    { keys: "n", does: "Next call", run: () => step(selected, 1, isCall) },
    { keys: "p", does: "Previous call", run: () => step(selected, -1, isCall) },
    { keys: "N", does: "Next rewrite", run: () => step(selected, 1, (item) => isCall(item) && isRewrite(item.call)) },
    {
      keys: "P",
      does: "Previous rewrite",
      run: () => step(selected, -1, (item) => isCall(item) && isRewrite(item.call))
    },
    {
      keys: "e",
      does: "Next error",
      run: nextError
    },
    { keys: "Enter", does: "Open the call", run: open },
    {
      keys: "Escape",
      does: "Close what is open, or back",
      run: () => {
        if (find.isOpen) return find.close()
        return isSideOpen && isNarrow() ? setSideOpen(false) : Route.back(LastList.get(), isAbove)
      }
    },
    { keys: "Mod+f", does: "Find (twice: the browser's)", run: () => (find.isOpen || isTable ? false : find.open()) },
    { keys: "/", does: "Find", run: openFind },
    { keys: "m", does: "Markdown, or as it was sent", run: () => Reading.toggle(Reading.text, "markdown", "raw") },
    { keys: "t", does: "Open or fold thinking", run: () => Reading.toggle(Reading.thinking, "folded", "open") },
    { keys: "x", does: "Open or fold tools", run: () => Reading.toggle(Reading.tools, "folded", "open") },
    { keys: "l", does: "Follow what is new", run: () => setFollowing((following) => !following) },
    { keys: "v", does: "The stream, or a table of calls", run: () => Route.amend({ view: isTable ? null : "table" }) },
    { keys: "c i", does: "Copy the id", run: () => Copy.text(selectedCall?.event_id ?? id) },
    { keys: "c l", does: "Copy the link", run: () => Copy.text(location.href) },
    {
      keys: "c b",
      does: "Copy the text",
      run: () => selectedItem?.kind === "message" && Copy.text(Words.ofMessage(selectedItem.message))
    },
    {
      keys: "c u",
      does: "Copy a curl command",
      run: () => selectedCall && Copy.curl(["events", selectedCall.event_id])
    }
  ])

  useEffect(() => {
    document.title = `${plain(Words.line(session?.title ?? id, 60))} · Tachograph`
  }, [session, id])

  if (state.error !== undefined && (calls.length === 0 || session === undefined)) {
    return <Failed isWhole error={state.error} again={state.again} />
  }
  if (session === undefined || (calls.length === 0 && state.isLoading)) return <Loading what="the session" />
  if (calls.length === 0) return <Empty title="This session has no calls" isWhole />

  const number = selectedCall === undefined ? undefined : callsById.get(selectedCall.event_id)?.number
  const rowOf = (index: number) => {
    const item = items[index]!
    const isSelected = index === selected
    const select_ = () => select(index)
    return (
      <div class={isSelected ? "row selected" : "row"} onClick={(event) => isOwnClick(event) && select_()}>
        {item.kind === "call" ? (
          <CallMark
            call={item.call}
            number={item.number}
            thread={threads.length > 1 ? threadOf.get(item.call.event_id) : undefined}
          />
        ) : (
          <Sought.Provider value={current?.row === index ? words : ""}>
            <MessageRow
              message={item.message}
              results={results}
              answered={answered}
              carried={carried.get(item.message.number)}
              isMarkdown={text === "markdown"}
              isThinkingOpen={thinking === "open"}
              areToolsOpen={tools === "open"}
            />
          </Sought.Provider>
        )}
      </div>
    )
  }
  return (
    <div class="session">
      <Head
        session={session}
        threads={threads}
        thread={thread}
        isTable={isTable}
        isFollowing={isFollowing}
        isSideOpen={isSideOpen}
        openSide={() => setSideOpen((isOpen) => !isOpen)}
        follow={() => setFollowing((following) => !following)}
        find={openFind}
        nextError={nextError}
      />
      <Strip
        calls={calls}
        shown={shown}
        selected={selectedCall?.event_id}
        select={(call) => Route.amend({ call: call.event_id, message: null, view: null })}
      />
      {find.isOpen && !isTable && (
        <FindBar
          words={find.words}
          set={find.set}
          index={find.index}
          count={find.occurrences.length}
          step={find.step}
          close={find.close}
        />
      )}
      {state.error !== undefined && (
        <RestMissing error={state.error} again={state.error.isTemporary ? state.resume : state.again} />
      )}
      {!state.isConnected && <Reconnecting />}
      <div class="columns">
        {isTable ? (
          <CallsTable calls={calls} shown={shown} selected={selectedCall?.event_id} />
        ) : (
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
              if (isFollowing && scrollHeight - scrollTop - clientHeight > 20 * endPixels) setFollowing(false)
            }}
          >
            <VirtualList
              scroller={scroller}
              handle={list}
              count={items.length}
              keyOf={(index) => items[index]?.key ?? String(index)}
              estimate={(index) => estimate(items[index])}
              row={rowOf}
              label="The conversation"
            />
            {state.isLoading && <p class="state">Loading the rest…</p>}
            {!state.isLoading && messages.length === 0 && (
              <p class="state">No message was found in these calls. The page of each has its JSON as it was sent.</p>
            )}
          </div>
        )}
        <Side
          isOpen={isSideOpen}
          calls={calls}
          carried={carried}
          messages={messages}
          selected={selectedCall}
          number={number}
          shown={shown}
        />
      </div>
    </div>
  )
}

/** Whether what is beside the conversation lies over it. */
const isNarrow = (): boolean => matchMedia("(max-width: 64rem)").matches

/** Whether a place is neither a session nor a call. */
const isAbove = ([page, ...rest]: ReadonlyArray<string>): boolean =>
  page !== "events" && (page !== "sessions" || rest.length === 0)

/** A click that selects text, or on something that does its own, selects no row. */
const isOwnClick = (event: MouseEvent): boolean =>
  (event.target as Element).closest("a, button, summary, input") === null && getSelection()?.isCollapsed !== false
