/**
 * Finds the events of a session, an agent, a version or a person, or of several of these, or of a time, in the order of their ids. Reads
 * about as much as it finds, however many events the project has; `docs/storage.md` says what each combination costs.
 */
import type { EventId, EventQuery, FieldFilter } from "@tachograph/core"
import * as Effect from "effect/Effect"
import type { SqlClient, SqlError, Statement } from "effect/sql"
import * as Bucket from "../dialect/Bucket.ts"
import * as UuidColumn from "../dialect/UuidColumn.ts"
import * as FieldConditions from "./FieldConditions.ts"
import * as FoundEvents from "./FoundEvents.ts"
import * as NamedEvents from "./NamedEvents.ts"
import * as EventStreams from "./EventStreams.ts"
import * as TimeWalks from "./TimeWalks.ts"
import * as Walks from "./Walks.ts"

export const make = (sql: SqlClient.SqlClient) => {
  const rangeOf = EventStreams.rangeOf(sql)
  const walk = Walks.make(sql)
  const { walkDuring } = TimeWalks.make(sql)
  const { conditionsOf, numbersOf, walksOf, whereOf } = NamedEvents.make(sql)
  const { findIn, withIds } = FoundEvents.make(sql)

  const everywhere = ({ limit, order }: EventQuery, where: Statement.Fragment): FoundEvents.FoundEvents => ({
    rows: sql`SELECT * FROM events e WHERE ${where} ORDER BY e.event_id ${sql.literal(order)} LIMIT ${limit}`,
    count: undefined,
    where
  })

  /** At most `limit` events; undefined if there are none. */
  const find = Effect.fnUntraced(function* (project_id: number, query: EventQuery) {
    const { limit, session } = query
    const range = rangeOf(query)
    const filter = NamedEvents.namesOf(query)
    const numbers = filter === undefined ? {} : yield* numbersOf(project_id, filter)
    if (numbers === undefined) return undefined
    if (Bucket.isDistributed(sql) && (session === undefined || TimeWalks.hasTimes(query))) {
      return everywhere(query, sql`${whereOf(project_id, query, numbers)} AND ${EventStreams.inRange(sql, range)}`)
    }
    const bucket = Bucket.ofSession(session ?? "")
    const walks: ReadonlyArray<Walks.Walk> = filter === undefined ? [Walks.ofAll] : walksOf(project_id, filter, numbers)
    if (TimeWalks.hasTimes(query)) {
      const conditions = filter === undefined ? [] : conditionsOf(project_id, filter, numbers)
      const { ids } = yield* walkDuring(project_id, bucket, query, walks, conditions, limit, Number.POSITIVE_INFINITY)
      return withIds(project_id, bucket, ids)
    }
    if (filter === undefined) return { rows: Walks.ofProject(sql, project_id, range, limit), count: undefined }
    const exact = walks.find(({ conditions }) => conditions.length === 0)
    if (exact !== undefined) return yield* findIn(project_id, bucket, exact.way as EventStreams.Streams, range, limit)
    return withIds(
      project_id,
      bucket,
      (yield* walk(project_id, bucket, walks, range, limit, Number.POSITIVE_INFINITY)).ids
    )
  })

  /** Events that have these fields besides the names; looks at about `maxLooked` events. */
  const findFields = Effect.fnUntraced(function* (
    project_id: number,
    query: EventQuery,
    fields: FieldFilter,
    maxLooked: number
  ): Effect.fn.Return<
    { readonly found: FoundEvents.FoundEvents | undefined; readonly next: EventId | undefined },
    SqlError.SqlError
  > {
    const { limit } = query
    const filter = NamedEvents.namesOf(query)
    const numbers = filter === undefined ? {} : yield* numbersOf(project_id, filter)
    if (numbers === undefined) return { found: undefined, next: undefined }
    const bucket = Bucket.ofSession(query.session ?? "")
    const ofNames = filter === undefined ? [] : walksOf(project_id, filter, numbers)
    const conditions = FieldConditions.of(sql, fields)
    const ofEvent = [...(filter === undefined ? [] : conditionsOf(project_id, filter, numbers)), ...conditions]
    const walks: Array<Walks.Walk> = ofNames.map((each) => ({
      ...each,
      conditions: [...each.conditions, ...conditions]
    }))
    const { failure, isError, traceId } = fields
    if (Bucket.isDistributed(sql)) {
      // The nodes look for a trace themselves, as they have an index for it.
      const ofTrace = traceId === undefined ? [] : FieldConditions.of(sql, { traceId })
      const where = sql.and([whereOf(project_id, query, numbers), ...ofTrace])
      walks.splice(0, walks.length, { way: { of: "nodes", where }, conditions: [...conditions] })
    } else if (traceId !== undefined) {
      walks.unshift({ way: { of: "trace", id: traceId }, conditions: ofEvent })
    } else if (isError === true || failure !== undefined) {
      walks.unshift({ way: { of: "failed" }, conditions: ofEvent })
    } else if (walks.length === 0) {
      walks.push({ ...Walks.ofAll, conditions })
    }
    // One more event than requested shows whether there are others.
    const { ids, stoppedAt } =
      TimeWalks.hasTimes(query) && !Bucket.isDistributed(sql)
        ? yield* walkDuring(project_id, bucket, query, walks, ofEvent, limit + 1, maxLooked)
        : yield* walk(project_id, bucket, walks, rangeOf(query), limit + 1, maxLooked)
    const next = ids.length > limit ? ids[limit - 1] : stoppedAt
    return {
      found: withIds(project_id, query.session === undefined ? undefined : bucket, ids.slice(0, limit)),
      next: next === undefined ? undefined : (UuidColumn.decode(next) as EventId)
    }
  })

  return { find, findFields }
}
