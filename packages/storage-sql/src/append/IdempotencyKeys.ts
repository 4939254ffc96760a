/** Which keys events were sent under, for as long as a client may send them again. */
import {
  type AppendEvent,
  firstIdOf,
  type Idempotency,
  IdempotencyKey,
  idempotencyKeyTtl,
  type ProjectId,
  type TakenKey
} from "@tachograph/core"
import { DateTime, Effect } from "effect"
import type { SqlClient } from "effect/sql"
import { bytesOf, hexOf } from "../sql/Hex.ts"
import * as UuidColumn from "../sql/UuidColumn.ts"
import * as Locks from "../sql/Locks.ts"

interface TakenRow {
  readonly idempotency_key: string
  readonly body_hash: string
  readonly event_id: UuidColumn.StoredId
  readonly received_at: number | string
}

type KeyedEvent = AppendEvent & { readonly idempotency: Idempotency }

const isKeyed = (event: AppendEvent): event is KeyedEvent => event.idempotency !== undefined

/** Of keys that are not kept any more so many are taken away for each that is added, until none is left. */
const expiredPerAdded = 2

export const make = (sql: SqlClient.SqlClient) => {
  const toStored = UuidColumn.encoder(sql)

  const insert = Effect.fnUntraced(function* (project_id: number, events: ReadonlyArray<KeyedEvent>) {
    const rows: ReadonlyArray<Record<string, unknown>> = events.map(({ idempotency, summary }) => ({
      project_id,
      idempotency_key: idempotency.key,
      body_hash: hexOf(idempotency.bodyHash),
      event_id: toStored(summary.id)
    }))
    const added = yield* sql<{
      idempotency_key: string
    }>`INSERT INTO idempotency_keys ${sql.insert(rows as [Record<string, unknown>])}
      ON CONFLICT (project_id, idempotency_key) DO NOTHING RETURNING idempotency_key`
    const names = new Set(added.map(({ idempotency_key }) => idempotency_key))
    return events.filter(({ idempotency }) => !names.has(idempotency.key))
  })

  /** Some that nobody else takes away at this moment. */
  const deleteExpired = (project_id: number, before: UuidColumn.StoredId, limit: number) =>
    sql`DELETE FROM idempotency_keys WHERE project_id = ${project_id} AND idempotency_key IN (
      SELECT idempotency_key FROM idempotency_keys WHERE project_id = ${project_id} AND event_id < ${before}
      ORDER BY event_id LIMIT ${limit} ${Locks.updateFree(sql)})`

  /**
   * Takes the keys of events, and answers those that are taken. Comes first in a transaction, in the keys' order, so that
   * no two wait for each other; one that has the same key is waited for.
   */
  const take = Effect.fnUntraced(function* (project_id: number, events: ReadonlyArray<AppendEvent>) {
    const keyed = events.filter(isKeyed).sort(({ idempotency: a }, { idempotency: b }) => (a.key < b.key ? -1 : 1))
    const [first] = keyed
    if (first === undefined) return []
    const { project, summary } = first
    const kept = DateTime.subtractDuration(summary.receivedAt, idempotencyKeyTtl)
    const before = toStored(firstIdOf(kept.epochMilliseconds))
    const taken: Array<TakenKey> = []
    let left: ReadonlyArray<KeyedEvent> = yield* insert(project_id, keyed)
    while (left.length > 0) {
      const names = left.map(({ idempotency }) => idempotency.key)
      for (const name of names) {
        // One without an event would stand in the way for ever; somebody has restored a part of the tables.
        yield* sql`DELETE FROM idempotency_keys WHERE project_id = ${project_id} AND idempotency_key = ${name}
          AND (event_id < ${before} OR NOT EXISTS (SELECT 1 FROM events e
            WHERE e.project_id = idempotency_keys.project_id AND e.event_id = idempotency_keys.event_id))`
      }
      const rows = yield* sql<TakenRow>`SELECT k.idempotency_key, k.body_hash, k.event_id, e.received_at
        FROM idempotency_keys k JOIN events e ON e.project_id = k.project_id AND e.event_id = k.event_id
        WHERE k.project_id = ${project_id} AND ${sql.in("k.idempotency_key", names)}`
      for (const row of rows) taken.push(toTaken(project, row))
      const found = new Set(rows.map(({ idempotency_key }) => idempotency_key))
      // What is gone was too old, or has been erased meanwhile.
      const gone = left.filter(({ idempotency }) => !found.has(idempotency.key))
      left = gone.length === 0 ? [] : yield* insert(project_id, gone)
    }
    yield* deleteExpired(project_id, before, expiredPerAdded * keyed.length)
    return taken
  })

  /** The keys of events that are being erased. Comes before anything else of theirs is touched, as in `take`. */
  const forget = Effect.fnUntraced(function* (project_id: number, events: ReadonlyArray<UuidColumn.StoredId>) {
    const isTheirs = sql.and([sql`project_id = ${project_id}`, sql.in("event_id", events)])
    const found = yield* sql`SELECT idempotency_key FROM idempotency_keys WHERE ${isTheirs}
      ORDER BY idempotency_key ${Locks.update(sql)}`
    if (found.length > 0) yield* sql`DELETE FROM idempotency_keys WHERE ${isTheirs}`
  })

  return { take, forget }
}

const toTaken = (project: ProjectId, row: TakenRow): TakenKey => ({
  project,
  idempotency: { key: IdempotencyKey.make(row.idempotency_key), bodyHash: bytesOf(row.body_hash) },
  id: UuidColumn.decode(row.event_id) as TakenKey["id"],
  receivedAt: DateTime.makeUnsafe(Number(row.received_at))
})
