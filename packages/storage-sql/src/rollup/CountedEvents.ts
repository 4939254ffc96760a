/** Reads the events that are added up. */
import { CallTime, type EventId, EventTime, Uuid } from "@tachograph/core"
import * as Effect from "effect/Effect"
import type { SqlClient, SqlError, Statement } from "effect/sql"
import * as Bucket from "../dialect/Bucket.ts"
import * as CallTimes from "../dialect/CallTimes.ts"
import * as EventIndex from "../dialect/EventIndex.ts"
import * as UuidColumn from "../dialect/UuidColumn.ts"
import type { Integer } from "../sql/RowDecoding.ts"
import * as CountedRows from "./CountedRows.ts"
import { type CountedEvent } from "./CountedEvent.ts"

/** Events that one statement reads. */
const pageSize = 2_000

/** A range of ids. */
export interface IdRange {
  /** Greater than this one. */
  readonly above?: EventId | undefined
  /** Up to this one. */
  readonly upTo?: EventId | undefined
  /** Which of them. */
  readonly condition?: Statement.Fragment
  /** The index that has them in the order of their ids, if not the primary key. */
  readonly index?: EventIndex.EventIndex
}

const lowest = (a: EventId | undefined, b: EventId | undefined) =>
  a === undefined || (b !== undefined && b < a) ? b : a
const highest = (a: EventId | undefined, b: EventId | undefined) =>
  a === undefined || (b !== undefined && b > a) ? b : a

/** The ids of a range that are within an hour of times. */
const nearIds = (times: CallTimes.Times, { above, upTo }: IdRange): IdRange => {
  const near = CallTimes.nearIds(times)
  return { above: highest(above, near.above), upTo: lowest(upTo, near.below && Uuid.previous(near.below)) }
}

/** Whether the time of a call leads to its event's id. */
const isNear = ({ atMs, id }: CountedEvent): boolean => Math.abs(atMs - EventTime.of(id)) <= CallTime.nearMs

/** Follows a condition. */
const conditionOf = (sql: SqlClient.SqlClient) => {
  const toStored = UuidColumn.encoder(sql)
  const nothing = sql.literal("")
  return ({ above, condition, upTo }: IdRange) => {
    const isAbove = above === undefined ? nothing : sql` AND e.event_id > ${toStored(above)}`
    const isUpTo = upTo === undefined ? nothing : sql` AND e.event_id <= ${toStored(upTo)}`
    return condition === undefined ? sql`${isAbove}${isUpTo}` : sql`${isAbove}${isUpTo} AND ${condition}`
  }
}

const readersBy = (sql: SqlClient.SqlClient, read: CountedRows.Read) => {
  const within = conditionOf(sql)
  const toStored = UuidColumn.encoder(sql)
  const page = (project_id: number, range: IdRange, limit: number) =>
    read(project_id, {
      where: sql`e.project_id = ${project_id}${within(range)}`,
      order:
        range.index === undefined ? sql.literal("e.event_id") : sql`e.event_id ${EventIndex.direction(sql, "asc")}`,
      limit,
      ...(range.index !== undefined && { hint: EventIndex.hint(sql, range.index) })
    })

  /** Calls `use` with each event of a range, in the order of their ids. Returns false after about `maxEvents` if there are more. */
  const forEach = Effect.fnUntraced(function* (
    project_id: number,
    range: IdRange,
    use: (event: CountedEvent) => void,
    maxEvents = Number.POSITIVE_INFINITY
  ): Effect.fn.Return<boolean, SqlError.SqlError> {
    let used = 0
    for (let above = range.above; ;) {
      const events = yield* page(project_id, { ...range, above }, pageSize)
      events.forEach(use)
      if (events.length < pageSize) return true
      used += events.length
      if (used >= maxEvents) return false
      above = events.at(-1)!.id
      // Cancelled, if the client goes, and others run, where the database answers at once.
      yield* Effect.yieldNow
    }
  })

  /** Calls `use` with the events up to an id that the index by distant times has, in its order. */
  const forEachDistant = Effect.fnUntraced(function* (
    project_id: number,
    times: CallTimes.Times,
    upTo: EventId,
    use: (event: CountedEvent) => void
  ): Effect.fn.Return<void, SqlError.SqlError> {
    for (let after = sql.literal(""); ;) {
      const events = yield* read(project_id, {
        where: sql`e.project_id = ${project_id} AND ${CallTimes.isDistantDuring(sql, times)}${within({ upTo })}${after}`,
        order: sql.literal("e.distant_at, e.event_id"),
        limit: pageSize
      })
      events.forEach(use)
      if (events.length < pageSize) return
      const { distantMs, id } = events.at(-1)!
      after = sql` AND (e.distant_at, e.event_id) > (${distantMs}, ${toStored(id)})`
      yield* Effect.yieldNow
    }
  })

  /** Calls `use` with each event up to an id, or above it, whose call took place at a time. */
  const forEachDuring = Effect.fnUntraced(function* (
    project_id: number,
    times: CallTimes.Times,
    ids: { readonly above: EventId } | { readonly upTo: EventId },
    use: (event: CountedEvent) => void
  ): Effect.fn.Return<void, SqlError.SqlError> {
    const near = { ...nearIds(times, ids), condition: CallTimes.isDuring(sql, times) }
    yield* forEach(project_id, near, (event) => {
      if (isNear(event)) use(event)
    })
    const useDistant = (event: CountedEvent) => {
      if (!isNear(event)) use(event)
    }
    if ("upTo" in ids) return yield* forEachDistant(project_id, times, ids.upTo, useDistant)
    const condition = CallTimes.isDistantDuring(sql, times)
    yield* forEach(project_id, { ...ids, condition, index: "events_by_distant_id" }, useDistant)
  })

  /** Calls `use` with each event of a session in a range, agent by agent. */
  const forEachOf = Effect.fnUntraced(function* (
    project_id: number,
    session: number,
    range: IdRange,
    use: (event: CountedEvent) => void
  ): Effect.fn.Return<void, SqlError.SqlError> {
    const bucket = Bucket.ofNumber(session)
    const ofSession = Bucket.isOfSession(sql, project_id, session, "e.")
    const agents = yield* sql<{ agent_number: Integer }>`SELECT agent_number FROM storage_usage e
        WHERE ${ofSession}`
    for (const { agent_number } of agents) {
      for (let above = range.above; ;) {
        const events = yield* read(project_id, {
          where: sql`${ofSession} AND e.agent_number = ${agent_number}${within({ ...range, above })}`,
          order: sql`e.event_id ${EventIndex.direction(sql, "asc")}`,
          limit: pageSize,
          hint: EventIndex.hint(sql, "events_by_session"),
          bucket
        })
        events.forEach(use)
        if (events.length < pageSize) break
        above = events.at(-1)!.id
        yield* Effect.yieldNow
      }
    }
  })

  return { page, forEach, forEachDuring, forEachOf, read }
}

export const make = (sql: SqlClient.SqlClient) => {
  const { readAny, readIntact, toCounted } = CountedRows.make(sql)
  return { ...readersBy(sql, readAny), intact: readersBy(sql, readIntact), toCounted }
}
