/** The last calls of sessions, by their events. */
import { CallTime, type EventId, EventTime } from "@tachograph/core"
import * as Effect from "effect/Effect"
import type { SqlClient } from "effect/sql"
import * as Bucket from "../dialect/Bucket.ts"
import * as BulkValues from "../dialect/BulkValues.ts"
import * as CallTimes from "../dialect/CallTimes.ts"
import * as EventIndex from "../dialect/EventIndex.ts"
import * as Dialects from "../dialect/Dialects.ts"
import * as UuidColumn from "../dialect/UuidColumn.ts"
import type { Integer } from "../sql/RowDecoding.ts"

/** Of a session, up to some event. */
export interface Last {
  readonly id: EventId
  /** When its last call took place (epoch ms), which may be another event. */
  readonly lastMs: number
}

/** Between these ids, neither of which is in it. */
export interface IdRange {
  readonly above?: EventId | undefined
  readonly below?: EventId | undefined
}

interface LastRow {
  readonly session_number: Integer
  readonly last: UuidColumn.StoredId | null
  readonly near_ms: Integer | null
  readonly distant_ms: Integer | null
}

export type SessionCalls = ReturnType<typeof make>

export const make = (sql: SqlClient.SqlClient) => {
  const toStored = UuidColumn.encoder(sql)

  /**
   * Of those sessions that have events up to an id. Of the events near their calls, only those can have the last call that were recorded
   * less than twice the longest time before the last one of them; an index leads to the last call of the others.
   */
  const lastsUpTo = Effect.fnUntraced(function* (project_id: number, sessions: Iterable<number>, upTo: EventId) {
    const found = new Map<number, Last>()
    const newest = EventIndex.direction(sql, "desc")
    const dialect = Dialects.of(sql)
    const bySession = EventIndex.hint(sql, "events_by_session")
    for (const { buckets, rows: ofShard } of Bucket.split(sql, Array.from(sessions), Bucket.ofNumber)) {
      const ofSession = sql`e.project_id = u.project_id AND e.session_number = u.session_number
        AND e.event_id <= ${toStored(upTo)}${Bucket.andSame(sql, "e", "u")}${Bucket.and(sql, buckets, "e.")}`
      const ofAgent = sql`${ofSession} AND e.agent_number = u.agent_number`
      const near = sql`(SELECT e.event_id FROM events e ${bySession} WHERE ${ofAgent} AND e.distant_at IS NULL
        ORDER BY e.event_id ${newest} LIMIT 1)`
      const from = dialect.firstIdOf(sql`${dialect.idMs(near)} - ${sql.literal(String(2 * CallTime.nearMs))}`)
      for (const chunk of BulkValues.chunks(ofShard)) {
        const rows = yield* sql<LastRow>`SELECT u.session_number,
            (SELECT e.event_id FROM events e ${bySession} WHERE ${ofAgent} ORDER BY e.event_id ${newest} LIMIT 1) AS last,
            (SELECT max(${CallTimes.msOf(sql)}) FROM events e ${bySession} WHERE ${ofAgent} AND e.event_id >= ${from}) AS near_ms,
            (SELECT e.distant_at FROM events e WHERE ${ofSession} AND e.distant_at IS NOT NULL
              ORDER BY e.distant_at DESC LIMIT 1) AS distant_ms
          FROM storage_usage u WHERE u.project_id = ${project_id}
            AND ${BulkValues.isAmong(sql, "u.session_number", "integer", chunk)}${Bucket.and(sql, buckets, "u.")}`
        for (const { distant_ms, last, near_ms, session_number } of rows) {
          if (last === null) continue
          const session = Number(session_number)
          const { id, lastMs } = found.get(session) ?? { id: EventTime.lowestId, lastMs: 0 }
          const own = UuidColumn.decode(last) as EventId
          const ms = Math.max(lastMs, Number(near_ms ?? 0), Number(distant_ms ?? 0))
          found.set(session, { id: own > id ? own : id, lastMs: ms })
        }
      }
    }
    return found as ReadonlyMap<number, Last>
  })

  /** Events in a range of ids, in order, with their sessions and the times of their calls. */
  const read = Effect.fnUntraced(function* (project_id: number, range: IdRange, order: "asc" | "desc", limit: number) {
    const isAbove = range.above === undefined ? sql.literal("") : sql` AND event_id > ${toStored(range.above)}`
    const isBelow = range.below === undefined ? sql.literal("") : sql` AND event_id < ${toStored(range.below)}`
    const rows = yield* sql<{
      session_number: Integer
      event_id: UuidColumn.StoredId
      occurred_at: Integer | null
      received_after: Integer
    }>`SELECT session_number, event_id, occurred_at, received_after FROM events
      WHERE project_id = ${project_id}${isAbove}${isBelow}
      ORDER BY event_id ${sql.literal(order)} LIMIT ${limit}`
    return rows.map(({ event_id, occurred_at, received_after, session_number }) => {
      const id = UuidColumn.decode(event_id) as EventId
      const receivedMs = EventTime.of(id) + Number(received_after)
      const atMs = CallTime.ofMs(occurred_at === null ? null : Number(occurred_at), receivedMs)
      return { session: Number(session_number), id, atMs }
    })
  })

  return { lastsUpTo, read }
}
