/** A list that is read page by page, and whose beginning is read again while it is looked at. */
import { useCallback, useEffect, useRef, useState } from "preact/hooks"
import * as Key from "./Key.ts"
import * as Pace from "./Pace.ts"
import { empty, PagedList, type Source, type State } from "./PagedList.ts"

export interface Pages<A> extends Pick<State<A>, "rows" | "isLoading" | "error" | "moreError" | "isReadingMore"> {
  readonly hasMore: boolean
  readonly more: () => void
  readonly again: () => void
  /** Leaves out a row that is known to be gone. */
  readonly remove: (id: string) => void
}

/** Lists that were left, so that coming back shows them at once, and as far as they were read. */
const left = new Map<string, State<unknown>>()
const keptLists = 4

/** How often a list without rows is read again (ms): whoever looks at it waits for the first. */
const firstRowMs = 1_000

// Another key may open another project.
Key.whenSet(() => left.clear())

const keep = (name: string, state: State<unknown>): void => {
  left.delete(name)
  left.set(name, { ...state, error: undefined, moreError: undefined, isReadingMore: false })
  for (const oldest of left.keys()) if (left.size > keptLists) left.delete(oldest)
}

/**
 * `name` is that of the list. A list with another `key` begins anew. The first page is read again every `refreshMs`, or less
 * often where the server is slow, while the page is visible; more often where there is no row yet.
 */
export const usePages = <A>(
  name: string,
  source: Source<A>,
  key: string,
  refreshMs: number | undefined = undefined
): Pages<A> => {
  const id = `${name} ${key}`
  const [shown, setShown] = useState<{ readonly id: string; readonly state: State<A> }>()
  const [round, setRound] = useState(0)
  const list = useRef<PagedList<A>>(undefined)
  const latest = useRef(source)
  latest.current = source

  useEffect(() => {
    const aborter = new AbortController()
    const initial = (left.get(id) as State<A> | undefined) ?? empty
    let current = initial
    const opened = new PagedList(latest.current, aborter.signal, initial, (state) => {
      current = state
      if (state.rows.length > 0) keep(id, state as State<unknown>)
      setShown({ id, state })
    })
    list.current = opened
    setShown({ id, state: initial })
    if (refreshMs === undefined) void opened.refresh()
    else {
      const isAwaited = () => current.rows.length === 0 && current.next === null
      const leastMs = () => (isAwaited() ? Math.min(firstRowMs, refreshMs) : refreshMs)
      void Pace.askNowAndAgain(leastMs, aborter.signal, () => opened.refresh())
    }
    return () => aborter.abort()
  }, [id, round, refreshMs])

  // Before the first effect too, so that going back finds its place.
  const state = shown?.id === id ? shown.state : ((left.get(id) as State<A> | undefined) ?? empty)
  return {
    rows: state.rows,
    isLoading: state.isLoading,
    error: state.error,
    moreError: state.moreError,
    isReadingMore: state.isReadingMore,
    hasMore: state.next !== null,
    more: useCallback(() => void list.current?.more(), []),
    again: useCallback(() => setRound((round) => round + 1), []),
    remove: useCallback((id) => list.current?.remove(id), [])
  }
}
