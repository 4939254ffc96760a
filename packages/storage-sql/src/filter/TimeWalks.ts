/**
 * Finds the events whose calls took place at a time, in the order of their ids: those that were recorded near their calls, along the ids of
 * that time, and the others by the indexes of those.
 */
import type { EventQuery } from "@tachograph/core"
import * as Effect from "effect/Effect"
import type { SqlClient, SqlError, Statement } from "effect/sql"
import * as CallTimes from "../dialect/CallTimes.ts"
import type * as UuidColumn from "../dialect/UuidColumn.ts"
import * as EventStreams from "./EventStreams.ts"
import * as Walks from "./Walks.ts"

/** Events whose calls are distant that one statement puts into the order of their ids, however many are between them. */
const maxSorted = 1_000

export const hasTimes = ({ fromMs, toMs }: EventQuery): boolean => fromMs !== undefined || toMs !== undefined

/** The query for the ids alone of which the events are near their calls. */
const nearby = (query: EventQuery): EventQuery => {
  const { above, below } = CallTimes.nearIds(query)
  return {
    ...query,
    above: above === undefined || (query.above !== undefined && query.above > above) ? query.above : above,
    below: below === undefined || (query.below !== undefined && query.below < below) ? query.below : below
  }
}

/** Several walks for events of one list, up to the first place at which one of them has stopped. */
const mergeWalked = (walked: ReadonlyArray<Walks.Walked>, order: EventQuery["order"], limit: number): Walks.Walked => {
  const byOrder = (a: UuidColumn.StoredId, b: UuidColumn.StoredId) => (Walks.isBeyond(a, b, order) ? 1 : -1)
  const [stoppedAt] = walked.flatMap((each) => each.stoppedAt ?? []).sort(byOrder)
  const ids = walked
    .flatMap((each) => each.ids)
    .filter((id) => stoppedAt === undefined || !Walks.isBeyond(id, stoppedAt, order))
    .sort(byOrder)
  return { ids: ids.slice(0, limit), stoppedAt: ids.length >= limit ? undefined : stoppedAt }
}

export const make = (sql: SqlClient.SqlClient) => {
  const walk = Walks.make(sql)
  const rangeOf = EventStreams.rangeOf(sql)

  /** The events of a walk whose calls are distant from their ids, if there are few of this time. */
  const sortDistant = Effect.fnUntraced(function* (
    project_id: number,
    times: CallTimes.Times,
    conditions: ReadonlyArray<Statement.Fragment>,
    { after, before, order }: EventStreams.Range
  ): Effect.fn.Return<ReadonlyArray<UuidColumn.StoredId> | undefined, SqlError.SqlError> {
    const found = yield* sql<{ event_id: UuidColumn.StoredId; is_wanted: number }>`
      SELECT e.event_id, ${Walks.isWanted(sql, conditions)} FROM (SELECT e.* FROM events e
        WHERE e.project_id = ${project_id} AND ${CallTimes.isDistantDuring(sql, times)}
        ORDER BY e.distant_at, e.event_id LIMIT ${maxSorted + 1}) AS e
      ORDER BY e.event_id ${sql.literal(order)}`
    if (found.length > maxSorted) return undefined
    return found.flatMap(({ event_id, is_wanted }) => {
      const isInRange =
        (after === undefined || Walks.isBeyond(event_id, after, order)) &&
        (before === undefined || Walks.isBeyond(before, event_id, order))
      return is_wanted === 1 && isInRange ? [event_id] : []
    })
  })

  /**
   * The events of a time of calls: those that were recorded near it, along the walks, and those that were recorded long before or after
   * their calls, in one order. `conditions` are those of all walks, for an event of the project.
   */
  const walkDuring = Effect.fnUntraced(function* (
    project_id: number,
    bucket: number,
    query: EventQuery,
    walks: ReadonlyArray<Walks.Walk>,
    conditions: ReadonlyArray<Statement.Fragment>,
    limit: number,
    maxLooked: number
  ): Effect.fn.Return<Walks.Walked, SqlError.SqlError> {
    const and = (condition: Statement.Fragment) => (each: Walks.Walk) => ({
      ...each,
      conditions: [...each.conditions, condition]
    })
    const isNear = sql`e.distant_at IS NULL AND ${CallTimes.isDuring(sql, query)}`
    const nearRange = rangeOf(nearby(query))
    const near = yield* walk(project_id, bucket, walks.map(and(isNear)), nearRange, limit, maxLooked)
    const range = rangeOf(query)
    const sorted = yield* sortDistant(project_id, query, conditions, range)
    if (sorted !== undefined) return mergeWalked([near, { ids: sorted, stoppedAt: undefined }], query.order, limit)
    const ways = [{ way: { of: "distant" } as const, conditions }, ...walks.filter(({ way }) => way.of !== "project")]
    const isDistant = CallTimes.isDistantDuring(sql, query)
    const distant = yield* walk(project_id, bucket, ways.map(and(isDistant)), range, limit, maxLooked)
    return mergeWalked([near, distant], query.order, limit)
  })

  /** On the nodes of a distributed database, which look for these events themselves. */
  const isOfTimes = (query: EventQuery): ReadonlyArray<Statement.Fragment> => {
    if (!hasTimes(query)) return []
    const { after, before, order } = rangeOf({ ...CallTimes.nearIds(query), order: "asc" })
    const ids = EventStreams.inRange(sql, { after, before, order })
    return [
      sql`((e.distant_at IS NULL AND ${ids} AND ${CallTimes.isDuring(sql, query)})
        OR ${CallTimes.isDistantDuring(sql, query)})`
    ]
  }

  return { walkDuring, isOfTimes }
}
