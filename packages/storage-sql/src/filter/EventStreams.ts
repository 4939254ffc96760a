/**
 * Streams of events in the order of their ids. A stream is the part of an index of `events` in which both of its numbers are
 * given, such as the events of an agent in a session. The events of the session are the streams of all its agents, merged.
 */
import type { EventQuery } from "@tachograph/core"
import * as Effect from "effect/Effect"
import type { SqlClient, Statement } from "effect/sql"
import * as Bucket from "../dialect/Bucket.ts"
import * as EventIndex from "../dialect/EventIndex.ts"
import * as UuidColumn from "../dialect/UuidColumn.ts"

/** A stream: the index's two numbers. */
export interface Stream {
  readonly first: number
  readonly second: number
}

/** Where a page begins and ends; both ids are excluded. */
export interface Range {
  readonly order: EventIndex.Order
  readonly after: UuidColumn.StoredId | undefined
  readonly before: UuidColumn.StoredId | undefined
}

const columns = {
  events_by_session: ["session_number", "agent_number"],
  events_by_agent: ["agent_number", "agent_version_number"],
  events_by_person: ["person_number", "agent_number"]
} as const satisfies Partial<Record<EventIndex.EventIndex, readonly [first: string, second: string]>>

/** The indexes by two numbers. */
type Index = keyof typeof columns

/** Streams that one statement merges. For more it takes a statement for every that many changes from one to another. */
const maxMerged = 16

/** No number of a name. Its stream is empty. */
const noNumber = -1

/** Streams of one index, which are known or which a query finds. */
export type Streams = {
  readonly index: Index
} & (
  | { readonly of: "one"; readonly stream: Stream }
  /** All streams with this first number. */
  | { readonly of: "first"; readonly first: number }
  /** All versions of this name, of any agent, in `events_by_agent`. */
  | { readonly of: "version"; readonly name: string }
)

/** The stream of two numbers, or all streams of the first one. */
export const of = (index: Index, first: number, second?: number): Streams =>
  second === undefined ? { index, of: "first", first } : { index, of: "one", stream: { first, second } }

export const ofVersion = (name: string): Streams => ({ index: "events_by_agent", of: "version", name })

/** Streams to merge within a range. */
export interface Merge {
  readonly index: Index
  readonly streams: ReadonlyArray<Stream>
  readonly range: Range
  /** Whether there are other streams, that begin at the end of the range. */
  readonly isBounded: boolean
}

/** The range of a query. */
export const rangeOf = (sql: SqlClient.SqlClient) => {
  const toStored = UuidColumn.encoder(sql)
  return ({ above, after, below, order }: Pick<EventQuery, "above" | "after" | "below" | "order">): Range => {
    const [begin, end] = order === "asc" ? [above, below] : [below, above]
    const from =
      after === undefined || (begin !== undefined && (order === "asc" ? begin > after : begin < after)) ? begin : after
    return { order, after: from && toStored(from), before: end && toStored(end) }
  }
}

/** The condition for events `e` within a range. */
export const inRange = (sql: SqlClient.SqlClient, { after, before, order }: Range): Statement.Fragment => {
  const [from, to] = order === "asc" ? [after, before] : [before, after]
  return sql.and([
    ...(from === undefined ? [] : [sql`e.event_id > ${from}`]),
    ...(to === undefined ? [] : [sql`e.event_id < ${to}`])
  ])
}

/** `bucket` is that of all events that are looked for. */
export const make = (sql: SqlClient.SqlClient, project_id: number, bucket: number) => {
  const ofBucket = Bucket.and(sql, bucket, "e.")
  /** The ids or columns of a stream within a range; the numbers may be columns of the statement around it. */
  const select = (
    index: Index,
    selected: string,
    first: number | Statement.Fragment,
    second: number | Statement.Fragment,
    range: Range
  ) => {
    const [firstColumn, secondColumn] = columns[index]
    return sql`SELECT ${sql.literal(selected)} FROM events e ${EventIndex.hint(sql, index)}
      WHERE e.project_id = ${project_id} AND e.${sql(firstColumn)} = ${first} AND e.${sql(secondColumn)} = ${second}
        AND ${inRange(sql, range)}${ofBucket}`
  }

  /** The numbers of streams that may have events. */
  const candidates = (streams: Exclude<Streams, { readonly of: "one" }>): Statement.Fragment => {
    if (streams.of === "version") {
      return sql`candidates (first, second) AS (SELECT agent_number, agent_version_number FROM agent_versions
        WHERE project_id = ${project_id} AND agent_version_name = ${streams.name})`
    }
    const { first, index } = streams
    const [firstColumn, secondColumn] = columns[index]
    // Skips from each number in the index to the next one. Ends also if a damaged index leads back.
    const next = (condition: Statement.Fragment) => sql`SELECT (SELECT e.${sql(secondColumn)} FROM events e
        ${EventIndex.hint(sql, index)} WHERE e.project_id = ${project_id} AND e.${sql(firstColumn)} = ${first} ${condition}${ofBucket}
        ORDER BY e.${sql(secondColumn)} ${EventIndex.direction(sql, "asc")} LIMIT 1)`
    return sql`numbers (number) AS (${next(sql``)} UNION
        ${next(sql`AND e.${sql(secondColumn)} > numbers.number`)} FROM numbers WHERE numbers.number IS NOT NULL),
      candidates (first, second) AS (SELECT CAST(${first} AS INTEGER), number FROM numbers WHERE number IS NOT NULL)`
  }

  /** The streams that have events in the range, by their first event, as many as can be merged, and one more. */
  const find = (streams: Exclude<Streams, { readonly of: "one" }>, range: Range) => {
    const head = sql`${select(streams.index, "e.event_id", sql`candidates.first`, sql`candidates.second`, range)}
      ORDER BY e.event_id ${EventIndex.direction(sql, range.order)} LIMIT 1`
    return sql<Stream & { readonly head: UuidColumn.StoredId }>`WITH RECURSIVE ${candidates(streams)},
        heads AS MATERIALIZED (SELECT first, second, (${head}) AS head FROM candidates)
      SELECT first, second, head FROM heads WHERE head IS NOT NULL ORDER BY head ${sql.literal(range.order)} LIMIT ${maxMerged + 1}`
  }

  /** The streams that a range begins with. Undefined if none has events in it. */
  const begin = Effect.fnUntraced(function* (streams: Streams, range: Range) {
    const { index } = streams
    if (streams.of === "one") return { index, streams: [streams.stream], range, isBounded: false }
    const found = yield* find(streams, range)
    if (found.length === 0) return undefined
    const rest = found[maxMerged]
    const bounded = rest === undefined ? range : { ...range, before: rest.head }
    return { index, streams: found.slice(0, maxMerged), range: bounded, isBounded: rest !== undefined }
  })

  /** The rows of `events` in the merged streams, in order. */
  const rows = ({ index, range, streams }: Merge, limit: number): Statement.Fragment => {
    const padded = [...streams]
    // A power of two, so that there are few different statements to prepare.
    while ((padded.length & (padded.length - 1)) !== 0) padded.push({ first: noNumber, second: noNumber })
    const queries = padded.map(({ first, second }) => select(index, "e.*", first, second, range))
    return EventIndex.merged(sql, queries, range.order, limit)
  }

  return { begin, rows }
}
