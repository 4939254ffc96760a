/**
 * Times of calls in statements. Most events were recorded within an hour of their calls, so the ids of a time and of an hour around it
 * lead to them. The others have the time of the call in `distant_at`, which has an index.
 */
import { CallTime, type EventId, firstIdOf, Uuid } from "@tachograph/core"
import type { SqlClient, Statement } from "effect/sql"
import * as Dialects from "./Dialects.ts"

/** Calls at this time or later, and before this time: epoch milliseconds. */
export interface Times {
  readonly fromMs?: number | undefined
  readonly toMs?: number | undefined
}

/** Bounds of the ids of events that were recorded within an hour of calls of this time. */
export const nearIds = ({ fromMs, toMs }: Times): { readonly above?: EventId; readonly below?: EventId } => ({
  ...(fromMs !== undefined && { above: Uuid.previous(firstIdOf(fromMs - CallTime.nearMs)) }),
  ...(toMs !== undefined && { below: firstIdOf(toMs + CallTime.nearMs) })
})

/** Whether a time is within others; no call is later than a received one can be. */
const isWithin = (sql: SqlClient.SqlClient, ms: Statement.Fragment, { fromMs = 0, toMs = 2 * CallTime.endMs }: Times) =>
  sql`${ms} BETWEEN ${fromMs} AND ${toMs - 1}`

/** When the call of an event `e` took place (epoch ms). No index has this. */
export const msOf = (sql: SqlClient.SqlClient): Statement.Fragment => {
  const stated = sql`e.occurred_at >= 0 AND e.occurred_at < ${sql.literal(String(CallTime.endMs))}`
  const received = sql`${Dialects.of(sql).idMs(sql.literal("e.event_id"))} + e.received_after`
  return sql`CASE WHEN ${stated} THEN e.occurred_at ELSE ${received} END`
}

/** Whether the call of an event `e` took place then. */
export const isDuring = (sql: SqlClient.SqlClient, times: Times): Statement.Fragment => isWithin(sql, msOf(sql), times)

/** The same of events with `distant_at`: false for others. */
export const isDistantDuring = (sql: SqlClient.SqlClient, times: Times): Statement.Fragment =>
  isWithin(sql, sql.literal("e.distant_at"), times)
