/** The idempotency keys of events, for as long as a client may retry with them. */
import {
  type AppendEvent,
  firstIdOf,
  type Idempotency,
  IdempotencyKey,
  idempotencyKeyTtl,
  type ProjectId,
  type TakenKey
} from "@tachograph/core"
import { DateTime, Effect, Result } from "effect"
import { Hex } from "effect/encoding"
import type { SqlClient } from "effect/sql"
import * as BulkValues from "../dialect/BulkValues.ts"
import * as Locks from "../dialect/Locks.ts"
import * as UuidColumn from "../dialect/UuidColumn.ts"
import * as Attempts from "../sql/Attempts.ts"
import { type Integer, time } from "../sql/RowDecoding.ts"

interface TakenRow {
  readonly idempotency_key: string
  readonly body_hash: string
  readonly event_id: UuidColumn.StoredId
  readonly received_at: Integer
}

type KeyedEvent = AppendEvent & { readonly idempotency: Idempotency }

const isKeyed = (event: AppendEvent): event is KeyedEvent => event.idempotency !== undefined

/** Expired keys that are deleted for each key that is added. More than 1, so that they all go in time. */
const expiredPerAdded = 2

export const make = (sql: SqlClient.SqlClient) => {
  const toStored = UuidColumn.encoder(sql)

  /** Returns the events whose keys exist. */
  const insert = Effect.fnUntraced(function* (project_id: number, events: ReadonlyArray<KeyedEvent>) {
    const rows: ReadonlyArray<Record<string, unknown>> = events.map(({ idempotency, summary }) => ({
      project_id,
      idempotency_key: idempotency.key,
      body_hash: Hex.encode(idempotency.bodyHash),
      event_id: toStored(summary.id)
    }))
    const added = yield* sql<{
      idempotency_key: string
    }>`INSERT INTO idempotency_keys ${sql.insert(rows as [Record<string, unknown>])}
      ON CONFLICT (project_id, idempotency_key) DO NOTHING RETURNING idempotency_key`
    const names = new Set(added.map(({ idempotency_key }) => idempotency_key))
    return events.filter(({ idempotency }) => !names.has(idempotency.key))
  })

  /**
   * Deletes expired keys, and keys without an event (from a partial restore), which would block their events for ever. Locks
   * them in their order first.
   */
  const deleteInvalid = (project_id: number, names: ReadonlyArray<string>, before: UuidColumn.StoredId) =>
    sql`WITH invalid AS MATERIALIZED (
        SELECT idempotency_key FROM idempotency_keys WHERE project_id = ${project_id}
          AND ${BulkValues.isAmong(sql, "idempotency_key", "varchar", names)}
          AND (event_id < ${before} OR NOT EXISTS (SELECT 1 FROM events e
            WHERE e.project_id = idempotency_keys.project_id AND e.event_id = idempotency_keys.event_id))
        ORDER BY idempotency_key ${Locks.update(sql)})
      DELETE FROM idempotency_keys WHERE project_id = ${project_id}
        AND idempotency_key IN (SELECT idempotency_key FROM invalid)`

  /** Skips keys that another transaction has locked. */
  const deleteExpired = (project_id: number, before: UuidColumn.StoredId, limit: number) =>
    sql`DELETE FROM idempotency_keys WHERE project_id = ${project_id} AND idempotency_key IN (
      SELECT idempotency_key FROM idempotency_keys WHERE project_id = ${project_id} AND event_id < ${before}
      ORDER BY event_id LIMIT ${limit} ${Locks.updateSkipLocked(sql)})`

  /**
   * Inserts the keys of events, and returns those that belong to other events. Waits for a transaction that has inserted the
   * same key. Comes first in a transaction, and inserts in the order of the keys, to avoid deadlocks.
   */
  const take = Effect.fnUntraced(function* (project_id: number, events: ReadonlyArray<AppendEvent>) {
    const keyed = events.filter(isKeyed).sort(({ idempotency: a }, { idempotency: b }) => (a.key < b.key ? -1 : 1))
    const [first] = keyed
    if (first === undefined) return []
    const { project, summary } = first
    const oldest = DateTime.subtractDuration(summary.receivedAt, idempotencyKeyTtl)
    const before = toStored(firstIdOf(oldest.epochMilliseconds))
    const taken: Array<TakenKey> = []
    let left: ReadonlyArray<KeyedEvent> = yield* insert(project_id, keyed)
    const attempt = Attempts.make("Storing idempotency keys")
    while (left.length > 0) {
      yield* attempt
      const names = left.map(({ idempotency }) => idempotency.key)
      yield* deleteInvalid(project_id, names, before)
      const rows = yield* sql<TakenRow>`SELECT k.idempotency_key, k.body_hash, k.event_id, e.received_at
        FROM idempotency_keys k JOIN events e ON e.project_id = k.project_id AND e.event_id = k.event_id
        WHERE k.project_id = ${project_id} AND ${sql.in("k.idempotency_key", names)}`
      for (const row of rows) taken.push(toTaken(project, row))
      const existing = new Set(rows.map(({ idempotency_key }) => idempotency_key))
      // These had expired, or have been erased concurrently: insert them again.
      const free = left.filter(({ idempotency }) => !existing.has(idempotency.key))
      left = free.length === 0 ? [] : yield* insert(project_id, free)
    }
    yield* deleteExpired(project_id, before, expiredPerAdded * keyed.length)
    return taken
  })

  /** Deletes the keys of events that are being erased. Comes first in the transaction, like `take`. */
  const remove = Effect.fnUntraced(function* (project_id: number, events: ReadonlyArray<UuidColumn.StoredId>) {
    const isOfEvents = sql.and([sql`project_id = ${project_id}`, sql.in("event_id", events)])
    const locked = yield* sql`SELECT idempotency_key FROM idempotency_keys WHERE ${isOfEvents}
      ORDER BY idempotency_key ${Locks.update(sql)}`
    if (locked.length > 0) yield* sql`DELETE FROM idempotency_keys WHERE ${isOfEvents}`
  })

  return { take, remove }
}

const toTaken = (project: ProjectId, row: TakenRow): TakenKey => ({
  project,
  idempotency: {
    key: IdempotencyKey.make(row.idempotency_key),
    bodyHash: Result.getOrThrow(Hex.decode(row.body_hash))
  },
  id: UuidColumn.decode(row.event_id) as TakenKey["id"],
  receivedAt: time(row.received_at)
})
