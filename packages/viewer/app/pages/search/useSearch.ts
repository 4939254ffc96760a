/** A search whose rows are taken as they are found, until there are enough of them. It can be stopped, and go on. */
import { useCallback, useEffect, useRef, useState } from "preact/hooks"
import * as Client from "../../server/Client.ts"
import * as Lines from "../../server/Lines.ts"
import type { SearchedSession, SearchPage, SearchResult } from "../../server/Types.ts"

/** Rows that are looked for at a time. */
const limit = 50

type Progress = Pick<SearchPage, "damaged_events" | "next_cursor">

export type Query = Parameters<typeof Client.api.search>[0]

type Options = Parameters<typeof Client.api.search>[1]

/** What the rows are. */
export interface Kind<Row> {
  readonly response: (query: Query, options: Options) => Promise<Response>
  readonly page: (query: Query, options: Options) => Promise<Progress & { readonly rows: ReadonlyArray<Row> }>
  /** All rows, with those of another page. */
  readonly add: (rows: ReadonlyArray<Row>, more: ReadonlyArray<Row>) => ReadonlyArray<Row>
}

export const hits: Kind<SearchResult> = {
  response: Client.api.search.response,
  page: async (query, options) => {
    const { results, ...progress } = await Client.api.search(query, options)
    return { rows: results, ...progress }
  },
  add: (rows, more) => [...rows, ...more]
}

/** A later page may have the same session again, with more of its hits. */
const withSessions = (rows: ReadonlyArray<SearchedSession>, more: ReadonlyArray<SearchedSession>) => {
  const bySession = new Map(rows.map((row) => [row.session, row]))
  for (const row of more) {
    const known = bySession.get(row.session)
    bySession.set(row.session, known === undefined ? row : { ...known, hits: known.hits + row.hits })
  }
  return Array.from(bySession.values())
}

export const sessions: Kind<SearchedSession> = {
  response: Client.api.searchSessions.response,
  page: async (query, options) => {
    const { sessions, ...progress } = await Client.api.searchSessions(query, options)
    return { rows: sessions, ...progress }
  },
  add: withSessions
}

interface State<Row> {
  readonly rows: ReadonlyArray<Row>
  /** Events that could not be searched. */
  readonly damaged: number
  /** Where to go on; undefined at the beginning, null at the end. */
  readonly cursor: string | null | undefined
  readonly isSearching: boolean
  readonly error: Client.ServerError | undefined
}

export interface Search<Row> extends State<Row> {
  readonly stop: () => void
  readonly more: () => void
}

type Page<Row> = Progress & { readonly rows: ReadonlyArray<Row> }

/** The pages of one round, as they come. What comes before its progress is known is none: it would come again. */
async function* read<Row extends object>(
  { page, response }: Kind<Row>,
  query: Query,
  signal: AbortSignal
): AsyncGenerator<Page<Row>> {
  try {
    let rows: Array<Row> = []
    for await (const line of Lines.read<Row | Progress>(response(query, { signal }), signal)) {
      if (line === Lines.alive) continue
      if (!("next_cursor" in line)) rows.push(line)
      else {
        yield { rows, ...line }
        rows = []
      }
    }
  } catch (error) {
    // A mount that cannot stream says so.
    if (!(error instanceof Client.ServerError && error.status === 413)) throw error
    yield await page(query, { signal })
  }
}

export const useSearch = <Row extends object>(kind: Kind<Row>, query: Query): Search<Row> => {
  const initial: State<Row> = { rows: [], damaged: 0, cursor: undefined, isSearching: true, error: undefined }
  const [state, setState] = useState(initial)
  const aborter = useRef<AbortController>(undefined)
  const run = useCallback(async (cursor: string | undefined) => {
    aborter.current?.abort()
    const { signal } = (aborter.current = new AbortController())
    setState((state) => ({ ...state, isSearching: true, error: undefined }))
    try {
      for await (const page of read(kind, { ...query, limit, cursor }, signal)) {
        if (signal.aborted) return
        setState((state) => ({
          ...state,
          rows: kind.add(state.rows, page.rows),
          cursor: page.next_cursor,
          damaged: state.damaged + page.damaged_events
        }))
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
  return { ...state, stop, more: () => void run(state.cursor ?? undefined) }
}
