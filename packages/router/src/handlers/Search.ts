import { Search, defaultLimit } from "@tachograph/api"
import { Recorder, type SearchPage, type SearchResult, type TextQuery } from "@tachograph/core"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import * as Stream from "effect/Stream"
import * as EventFilter from "./EventFilter.ts"
import * as Operation from "./Operation.ts"

const fromResult = ({ end, event, role, snippet, start }: SearchResult): typeof Search.SearchResultOnWire.Type => ({
  event_id: event.id,
  session: event.session,
  role,
  at: event.occurredAt ?? event.receivedAt,
  snippet,
  hit_start: start,
  hit_end: end
})

const encode = Schema.encodeSync(Search.SearchResultOnWire)

/** The lines of a page: its results, and how far the search has come. */
const linesOf = ({ damaged, next, results }: SearchPage): string => {
  const progress = { damaged_events: damaged, next_cursor: Search.cursor.encode(next) }
  return [...results.map((result) => encode(fromResult(result))), progress]
    .map((line) => `${JSON.stringify(line)}\n`)
    .join("")
}

/** Searches on until the end, or until `limit` results are found. */
const streamOf = (search: Recorder["Service"]["search"], query: TextQuery, limit: number) =>
  Stream.paginate({ after: query.after, left: limit }, ({ after, left }) =>
    Effect.map(search({ ...query, after, limit: Math.min(query.limit, left) }), (page) => {
      const rest = { after: page.next, left: left - page.results.length }
      const isDone = page.next === undefined || rest.left === 0
      return [[linesOf(page)], isDone ? Option.none() : Option.some(rest)] as const
    })
  )

export const operations = Effect.gen(function* () {
  const { search } = yield* Recorder
  return Operation.group("search", {
    search: Effect.fnUntraced(function* ({ exchange, query }) {
      const given: TextQuery = {
        ...EventFilter.of(query),
        text: query.q,
        isCaseSensitive: query.case === "sensitive",
        after: Search.cursor.decode(query.cursor),
        limit: query.limit ?? defaultLimit
      }
      if (Operation.wantsLines(exchange)) {
        return new Operation.Lines(streamOf(search, given, query.limit ?? Number.POSITIVE_INFINITY))
      }
      const { damaged, next, results } = yield* search(given)
      return {
        results: results.map(fromResult),
        damaged_events: damaged,
        next_cursor: Search.cursor.encode(next)
      }
    })
  })
})
