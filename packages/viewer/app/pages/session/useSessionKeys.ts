/** The keys of a session's page. */
import type { Find } from "../../find/useFind.ts"
import { useKeys } from "../../keyboard/Keys.ts"
import * as LastList from "../../route/LastList.ts"
import * as Route from "../../route/Route.ts"
import * as Reading from "../../settings/Reading.ts"
import * as Copy from "../../text/Copy.ts"
import * as Words from "../../text/Words.ts"
import { isRewrite, type Item } from "./StreamItems.ts"
import type { Selected } from "./useSelected.ts"
import { toggle, type View } from "./View.ts"

interface Options {
  readonly id: string
  readonly view: View
  readonly hasSteps: boolean
  readonly selected: Selected
  /** Rows of the stream. */
  readonly count: number
  readonly find: Find
  readonly isSideOpen: boolean
  readonly closeSide: () => void
  readonly follow: () => void
}

const isCall = (item: Item) => item.kind === "call"
const isFailed = (item: Item) => isCall(item) && item.call.error_type !== null
const isRewriting = (item: Item) => isCall(item) && isRewrite(item.call)

/** Whether what is beside the conversation lies over it. */
const isNarrow = (): boolean => matchMedia("(max-width: 56rem)").matches

/** Whether a place is neither a session nor a call. */
const isAbove = ([page, ...rest]: ReadonlyArray<string>): boolean =>
  page !== "events" && (page !== "sessions" || rest.length === 0)

/** Returns what buttons do as well. */
export const useSessionKeys = (options: Options) => {
  const { closeSide, count, find, follow, hasSteps, id, isSideOpen, selected, view } = options
  const { call, index, item, step } = selected
  const isStream = view === "stream"
  const isRow = (item: Item) => (isStream && item.kind === "message") || isCall(item)
  /** After the last one, the first. */
  const nextError = () => step(index, 1, isFailed) || step(-1, 1, isFailed)
  // In the conversation. The table is whole on the page: the browser finds in it.
  const openFind = () => {
    if (!isStream) Route.amend({ view: null })
    find.open()
  }
  const escape = () => {
    if (find.isOpen) return find.close()
    return isSideOpen && isNarrow() ? closeSide() : Route.back(LastList.get(), isAbove)
  }
  useKeys([
    { keys: "j", does: "Next row", run: () => step(index, 1, isRow) },
    { keys: "k", does: "Previous row", run: () => step(index === -1 ? count : index, -1, isRow) },
    { keys: "n", does: "Next call", run: () => step(index, 1, isCall) },
    { keys: "p", does: "Previous call", run: () => step(index, -1, isCall) },
    { keys: "N", does: "Next rewrite", run: () => step(index, 1, isRewriting) },
    { keys: "P", does: "Previous rewrite", run: () => step(index, -1, isRewriting) },
    { keys: "e", does: "Next error", run: nextError },
    { keys: "Enter", does: "Open the call", run: () => call && Route.go(Route.to(["events", call.event_id])) },
    { keys: "Escape", does: "Close what is open, or back", run: escape },
    { keys: "Mod+f", does: "Find (twice: the browser's)", run: () => (find.isOpen || !isStream ? false : find.open()) },
    { keys: "/", does: "Find", run: openFind },
    ...Reading.switches,
    { keys: "l", does: "Follow what is new", run: follow },
    { keys: "v", does: "The stream, or a table of calls", run: () => toggle(view, "table") },
    ...(hasSteps
      ? [{ keys: "s", does: "The stream, or a timeline of calls and steps", run: () => toggle(view, "timeline") }]
      : []),
    { keys: "c i", does: "Copy the id", run: () => Copy.text(call?.event_id ?? id) },
    { keys: "c l", does: "Copy the link", run: () => Copy.text(location.href) },
    {
      keys: "c b",
      does: "Copy the text",
      run: () => item?.kind === "message" && Copy.text(Words.ofMessage(item.message))
    },
    { keys: "c u", does: "Copy a curl command", run: () => call && Copy.curl(["events", call.event_id]) }
  ])
  return { nextError, openFind }
}
