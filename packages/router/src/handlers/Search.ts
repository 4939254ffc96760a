import { Search, defaultLimit, maxLimit } from "@tachograph/api"
import { Recorder, type SearchPage, type SearchResult, type TextQuery } from "@tachograph/core"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import * as Stream from "effect/Stream"
import * as EventFilter from "./EventFilter.ts"
import * as Operation from "./Operation.ts"

type Hit = typeof Search.SearchResultOnWire.Type
type Searched = typeof Search.SearchedSessionOnWire.Type

const fromResult = ({ end, event, role, snippet, start }: SearchResult): Hit => ({
  event_id: event.id,
  session: event.session,
  role,
  at: event.occurredAt ?? event.receivedAt,
  snippet,
  hit_start: start,
  hit_end: end
})

/** One row a session, with the first of its hits, which is the newest. */
const grouped = (hits: ReadonlyArray<Hit>): ReadonlyArray<Searched> =>
  Array.from(Map.groupBy(hits, ({ session }) => session).values(), (all) => ({ ...all[0]!, hits: all.length }))

const progressOf = ({ damaged, next }: SearchPage) => ({
  damaged_events: damaged,
  next_cursor: Search.cursor.encode(next)
})

/** What a page of a search is answered with, and what is left to be searched for after it. */
interface Shape<Row> {
  /** What a page of at most so many rows asks for. */
  readonly ask: (rows: number) => Pick<TextQuery, "limit" | "maxSessions">
  readonly rows: (hits: ReadonlyArray<Hit>) => ReadonlyArray<Row>
  readonly encode: (row: Row) => unknown
}

const hits: Shape<Hit> = {
  ask: (limit) => ({ limit }),
  rows: (hits) => hits,
  encode: Schema.encodeSync(Search.SearchResultOnWire)
}

const sessions: Shape<Searched> = {
  ask: (maxSessions) => ({ limit: maxLimit, maxSessions }),
  rows: grouped,
  encode: Schema.encodeSync(Search.SearchedSessionOnWire)
}

type Ask = Recorder["Service"]["search"]

/** The rows of a page, and how far the search has come. */
const linesOf = <Row>({ encode, rows }: Shape<Row>, page: SearchPage): ReadonlyArray<unknown> => [
  ...rows(page.results.map(fromResult)).map(encode),
  progressOf(page)
]

/** Searches on until the end, or until `limit` rows are found. */
const streamOf = <Row>(shape: Shape<Row>, search: Ask, query: TextQuery, limit: number) =>
  Stream.paginate({ after: query.after, left: limit }, ({ after, left }) =>
    Effect.map(search({ ...query, ...shape.ask(Math.min(left, defaultLimit)), after }), (page) => {
      const lines = linesOf(shape, page)
      const rest = { after: page.next, left: left - (lines.length - 1) }
      const isDone = page.next === undefined || rest.left <= 0
      const text = lines.map((line) => `${JSON.stringify(line)}\n`).join("")
      return [[text], isDone ? Option.none() : Option.some(rest)] as const
    })
  )

type Query = typeof Search.Query.Type

const queryOf = <Row>(
  shape: Shape<Row>,
  { case: spelling, cursor, limit = defaultLimit, q, role, ...query }: Query
): TextQuery => ({
  ...EventFilter.of(query),
  text: q,
  isCaseSensitive: spelling === "sensitive",
  roles: role,
  after: Search.cursor.decode(cursor),
  ...shape.ask(limit)
})

export const operations = Effect.gen(function* () {
  const { search } = yield* Recorder
  const lines = <Row>(shape: Shape<Row>, query: Query) =>
    new Operation.Lines(streamOf(shape, search, queryOf(shape, query), query.limit ?? Number.POSITIVE_INFINITY))
  const pageOf = <Row>(shape: Shape<Row>, query: Query) =>
    Effect.map(search(queryOf(shape, query)), (page) => ({
      rows: shape.rows(page.results.map(fromResult)),
      ...progressOf(page)
    }))
  return Operation.group("search", {
    search: ({ exchange, query }) =>
      Operation.wantsLines(exchange)
        ? Effect.succeed(lines(hits, query))
        : Effect.map(pageOf(hits, query), ({ rows, ...progress }) => ({ results: rows, ...progress })),
    searchSessions: ({ exchange, query }) =>
      Operation.wantsLines(exchange)
        ? Effect.succeed(lines(sessions, query))
        : Effect.map(pageOf(sessions, query), ({ rows, ...progress }) => ({ sessions: rows, ...progress }))
  })
})
