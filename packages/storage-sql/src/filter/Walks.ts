/** Walks along events in the order of their ids, some of which are wanted, by ways that may be long: in turns, step by step. */
import type { EventQuery, TraceId } from "@tachograph/core"
import * as Effect from "effect/Effect"
import type { SqlClient, SqlError, Statement } from "effect/sql"
import * as EventIndex from "../dialect/EventIndex.ts"
import * as UuidColumn from "../dialect/UuidColumn.ts"
import * as Attempts from "../sql/Attempts.ts"
import * as FieldConditions from "./FieldConditions.ts"
import * as EventStreams from "./EventStreams.ts"

/** Where the events of a walk are: in streams, in the index by trace, or anywhere in the project. */
export type Way =
  | EventStreams.Streams
  | { readonly of: "trace"; readonly id: TraceId }
  | { readonly of: "project" }
  /** In the index of those that were recorded long before or after their calls. */
  | { readonly of: "distant" }
  /** In the index of those whose calls failed. */
  | { readonly of: "failed" }
  /** On all nodes of a distributed database; not for `begin`. */
  | { readonly of: "nodes"; readonly where: Statement.Fragment }

/** A way along all events that are looked for, and the conditions for those that are. */
export interface Walk {
  readonly way: Way
  readonly conditions: ReadonlyArray<Statement.Fragment>
}

/** What walks have found. */
export interface Walked {
  readonly ids: ReadonlyArray<UuidColumn.StoredId>
  /** Where to go on, if they have looked at as many events as they may. */
  readonly stoppedAt: UuidColumn.StoredId | undefined
}

/** Events of a walk that one statement reads: at first, and at most. */
const firstStep = 256
const maxStep = 2048

/** All events of the project. */
export const ofAll: Walk = { way: { of: "project" }, conditions: [] }

/** The rows of the project's events in a range. */
export const ofProject = (
  sql: SqlClient.SqlClient,
  project_id: number,
  range: EventStreams.Range,
  limit: number
): Statement.Fragment =>
  sql`SELECT * FROM events e WHERE e.project_id = ${project_id}
    AND ${EventStreams.inRange(sql, range)} ORDER BY e.event_id ${sql.literal(range.order)} LIMIT ${limit}`

/** A column that says whether an event `e` is wanted. */
export const isWanted = (sql: SqlClient.SqlClient, conditions: ReadonlyArray<Statement.Fragment>): Statement.Fragment =>
  sql`CASE WHEN ${conditions.length === 0 ? sql.literal("1 = 1") : sql.and(conditions)} THEN 1 ELSE 0 END AS is_wanted`

/** Whether a step has led to a later event, in this order. */
export const isBeyond = (
  id: UuidColumn.StoredId | undefined,
  before: UuidColumn.StoredId | undefined,
  order: EventQuery["order"]
): boolean => {
  if (id === undefined || before === undefined) return id !== undefined
  const [a, b] = [UuidColumn.decode(id), UuidColumn.decode(before)]
  return order === "asc" ? a > b : a < b
}

export const make = (sql: SqlClient.SqlClient) => {
  /** An index that has the wanted events only, and its condition. */
  const indexOf = (way: Exclude<Way, EventStreams.Streams | { readonly of: "project" | "nodes" }>) => {
    if (way.of === "distant") return ["events_by_distant_id", sql`e.distant_at IS NOT NULL`] as const
    if (way.of === "failed") return ["events_by_error", sql`e.error_type IS NOT NULL`] as const
    return ["events_by_trace", FieldConditions.of(sql, { traceId: way.id })[0]!] as const
  }

  /** The rows of the next events on a way, in order, and whether there are others that begin after them. */
  const begin = Effect.fnUntraced(function* (
    project_id: number,
    bucket: number,
    way: Exclude<Way, { readonly of: "nodes" }>,
    range: EventStreams.Range,
    limit: number
  ) {
    const { begin, rows } = EventStreams.make(sql, project_id, bucket)
    if (way.of === "project") return { rows: ofProject(sql, project_id, range, limit), isBounded: false }
    if (way.of === "trace" || way.of === "distant" || way.of === "failed") {
      const [index, condition] = indexOf(way)
      const query = sql`SELECT e.* FROM events e ${EventIndex.hint(sql, index)}
        WHERE e.project_id = ${project_id} AND ${condition} AND ${EventStreams.inRange(sql, range)}`
      return { rows: EventIndex.merged(sql, [query], range.order, limit), isBounded: false }
    }
    const merge = yield* begin(way, range)
    return merge && { rows: rows(merge, limit), isBounded: merge.isBounded }
  })

  /** The next events of a walk: how many there were, the last one, and those which are wanted. */
  const step = Effect.fnUntraced(function* (
    project_id: number,
    bucket: number,
    { conditions, way }: Walk,
    range: EventStreams.Range,
    limit: number
  ) {
    const selected = sql`SELECT e.event_id, ${isWanted(sql, conditions)}`
    const ordered = sql`ORDER BY e.event_id ${sql.literal(range.order)}`
    const next =
      way.of === "nodes"
        ? {
            statement: sql`${selected} FROM events e WHERE ${way.where} AND ${EventStreams.inRange(sql, range)}
              ${ordered} LIMIT ${limit}`,
            isBounded: false
          }
        : yield* Effect.map(
            begin(project_id, bucket, way, range, limit),
            (rest) =>
              rest && { statement: sql`${selected} FROM (${rest.rows}) AS e ${ordered}`, isBounded: rest.isBounded }
          )
    if (next === undefined) return { wanted: [], looked: 0, last: range.after, isEnd: true }
    const found = yield* sql<{ event_id: UuidColumn.StoredId; is_wanted: number }>`${next.statement}`
    return {
      wanted: found.filter(({ is_wanted }) => is_wanted === 1).map(({ event_id }) => event_id),
      looked: found.length,
      last: found.at(-1)?.event_id ?? range.after,
      isEnd: found.length < limit && !next.isBounded
    }
  })

  /** Takes the walks in turns, until one of them has found all, or has looked at `maxLooked` events. */
  const walk = Effect.fnUntraced(function* (
    project_id: number,
    bucket: number,
    walks: ReadonlyArray<Walk>,
    range: EventStreams.Range,
    limit: number,
    maxLooked: number
  ): Effect.fn.Return<Walked, SqlError.SqlError> {
    const attempt = Attempts.make("A list of events")
    const states = walks.map((walk) => ({ walk, after: range.after, looked: 0, ids: [] as Array<UuidColumn.StoredId> }))
    for (let events = firstStep; ; events = Math.min(2 * events, maxStep)) {
      for (const state of states) {
        const allowed = Math.min(events, maxLooked - state.looked)
        const at = { ...range, after: state.after }
        const { isEnd, last, looked, wanted } = yield* step(project_id, bucket, state.walk, at, allowed)
        if (!isBeyond(last, state.after, range.order)) yield* attempt
        state.after = last
        state.looked += looked
        for (const id of wanted) state.ids.push(id)
        if (isEnd || state.ids.length >= limit) return { ids: state.ids.slice(0, limit), stoppedAt: undefined }
        if (state.looked >= maxLooked) return { ids: state.ids, stoppedAt: last }
        // SQLite runs a statement at once.
        yield* Effect.yieldNow
      }
    }
  })

  return walk
}
