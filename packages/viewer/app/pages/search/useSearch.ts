/** A search whose hits are taken as they are found, until there are enough of them. It can be stopped, and go on. */
import { useCallback, useEffect, useRef, useState } from "preact/hooks"
import * as Client from "../../server/Client.ts"
import * as Lines from "../../server/Lines.ts"
import type { SearchPage, SearchResult } from "../../server/Types.ts"

/** Hits that are looked for at a time. */
const limit = 50

type Progress = Pick<SearchPage, "damaged_events" | "next_cursor">

export type Query = Parameters<typeof Client.api.search>[0]

interface State {
  readonly results: ReadonlyArray<SearchResult>
  /** Events that could not be searched. */
  readonly damaged: number
  /** Where to go on; undefined at the beginning, null at the end. */
  readonly cursor: string | null | undefined
  readonly isSearching: boolean
  readonly error: Client.ServerError | undefined
}

export interface Search extends State {
  readonly stop: () => void
  readonly more: () => void
}

const initial: State = { results: [], damaged: 0, cursor: undefined, isSearching: true, error: undefined }

export const idOf = ({ event_id, hit_start, role, snippet }: SearchResult) =>
  `${event_id} ${role} ${hit_start} ${snippet}`

const isProgress = (line: SearchResult | Progress): line is Progress => "next_cursor" in line

/** The results and progress of one round, as they come. */
async function* read(query: Query, signal: AbortSignal): AsyncGenerator<SearchResult | Progress> {
  try {
    const answer = Client.api.search.response(query, { signal })
    for await (const line of Lines.read<SearchResult | Progress>(answer, signal)) {
      if (line !== Lines.alive) yield line
    }
  } catch (error) {
    // A mount that cannot stream says so.
    if (!(error instanceof Client.ServerError && error.status === 413)) throw error
    const { results, ...progress } = await Client.api.search(query, { signal })
    yield* results
    yield progress
  }
}

export const useSearch = (query: Query): Search => {
  const [state, setState] = useState(initial)
  const aborter = useRef<AbortController>(undefined)
  const run = useCallback(async (cursor: string | undefined) => {
    aborter.current?.abort()
    const { signal } = (aborter.current = new AbortController())
    setState((state) => ({ ...state, isSearching: true, error: undefined }))
    try {
      for await (const line of read({ ...query, limit, cursor }, signal)) {
        if (signal.aborted) return
        setState((state) =>
          isProgress(line)
            ? { ...state, cursor: line.next_cursor, damaged: state.damaged + line.damaged_events }
            : { ...state, results: [...state.results, line] }
        )
      }
      if (!signal.aborted) setState((state) => ({ ...state, isSearching: false }))
    } catch (failure) {
      if (signal.aborted) return
      setState((state) => ({ ...state, isSearching: false, error: Client.toError(failure) }))
    }
  }, [])
  useEffect(() => {
    void run(undefined)
    return () => aborter.current?.abort()
  }, [])
  const stop = useCallback(() => {
    aborter.current?.abort()
    setState((state) => ({ ...state, isSearching: false }))
  }, [])
  // Where a round was stopped, its hits come again: they are known by then.
  return { ...state, stop, more: () => void run(state.cursor ?? undefined) }
}
