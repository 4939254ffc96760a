/** Where the packs of events are, and when and in which format the events were. */
import { type EventId, type EventPack, Uuid } from "@tachograph/core"
import * as ProviderNames from "@tachograph/core/domain/ProviderNames"
import type { SqlClient } from "effect/sql"
import * as UuidColumn from "../dialect/UuidColumn.ts"
import { type Integer, timeMs } from "../sql/RowDecoding.ts"

export interface Row {
  readonly event_id: UuidColumn.StoredId
  readonly session_number: Integer
  readonly pack_number: Integer
  readonly received_after: Integer
  readonly occurred_at: Integer | null
  readonly api: Integer | null
}

/** Columns for a `SELECT` from the table `events e` with `join`. */
export const columns = `e.event_id, e.session_number, e.pack_number, e.received_after, e.occurred_at, ek.api`

/** A left join, so that a damaged number does not hide the event. */
export const join = (sql: SqlClient.SqlClient) =>
  sql`LEFT JOIN event_kinds ek ON ek.project_id = e.project_id AND ek.kind_number = e.kind_number`

export const toEventPack = (row: Row): EventPack => {
  const id = UuidColumn.decode(row.event_id) as EventId
  return {
    id,
    session: Number(row.session_number),
    pack: Number(row.pack_number),
    api: ProviderNames.apiOf(Number(row.api ?? -1)),
    receivedAtMs: timeMs(Uuid.timeOf(id) + Number(row.received_after)),
    occurredAtMs: row.occurred_at === null ? undefined : timeMs(row.occurred_at)
  }
}
