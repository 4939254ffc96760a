/** The idempotency keys of events, for as long as a client may retry with them. A key is stored as a hash of it and the session. */
import {
  type AppendEvent,
  type EventSummary,
  EventTime,
  type Idempotency,
  idempotencyKeyHash,
  idempotencyKeyTtl,
  type TakenKey
} from "@tachograph/core"
import * as DateTime from "effect/DateTime"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import * as Hex from "effect/encoding/Hex"
import type { SqlClient, Statement } from "effect/sql"
import * as Bucket from "../dialect/Bucket.ts"
import * as BulkValues from "../dialect/BulkValues.ts"
import * as Dialects from "../dialect/Dialects.ts"
import * as Locks from "../dialect/Locks.ts"
import type { RunAtOnce } from "../dialect/AtOnce.ts"
import * as UuidColumn from "../dialect/UuidColumn.ts"
import * as Attempts from "../sql/Attempts.ts"
import { type Integer, time } from "../sql/RowDecoding.ts"

interface TakenRow {
  readonly key_hash: string
  readonly body_hash: string
  readonly event_id: UuidColumn.StoredId
  readonly received_after: Integer
}

type KeyedEvent = AppendEvent & { readonly idempotency: Idempotency }

/** By the hashes of their keys, in the order of the hashes. */
type Keyed = ReadonlyMap<string, KeyedEvent>

const isKeyed = (event: AppendEvent): event is KeyedEvent => event.idempotency !== undefined

/** Expired keys that are deleted for each key that is added. More than 1, so that they all go in time. */
const expiredPerAdded = 2

/** The events with keys, by the hashes of these, in their order. */
const keyedOf = (events: ReadonlyArray<AppendEvent>): ReadonlyArray<readonly [string, KeyedEvent]> =>
  events
    .filter(isKeyed)
    .map((event) => [idempotencyKeyHash(event.summary.session, event.idempotency.key), event] as const)
    .sort(([a], [b]) => (a < b ? -1 : 1))

/** Ids below it are of events whose keys have expired. */
const expiredBefore = (sql: SqlClient.SqlClient, { receivedAt }: EventSummary): UuidColumn.StoredId =>
  UuidColumn.encoder(sql)(
    EventTime.firstIdOf(DateTime.subtractDuration(receivedAt, idempotencyKeyTtl).epochMilliseconds)
  )

/** Skips keys that another transaction has locked. */
const deleteExpired = (
  sql: SqlClient.SqlClient,
  project_id: number,
  before: UuidColumn.StoredId,
  limit: number,
  ofBuckets: Statement.Fragment
) => {
  const expired = sql`SELECT key_hash FROM idempotency_keys
    WHERE project_id = ${project_id} AND event_id < ${before}${ofBuckets}
    ORDER BY event_id LIMIT ${limit} ${Locks.updateSkipLocked(sql)}`
  // Postgres keeps the plan that it made when there were few keys: a join would read all keys of the project.
  const isExpired = Dialects.of(sql).changesInOneStatement ? sql`= ANY(ARRAY(${expired}))` : sql`IN (${expired})`
  return sql`DELETE FROM idempotency_keys WHERE project_id = ${project_id}${ofBuckets} AND key_hash ${isExpired}`
}

const rowOf = (sql: SqlClient.SqlClient, project_id: number, [key_hash, event]: readonly [string, KeyedEvent]) => ({
  project_id,
  key_hash,
  body_hash: Hex.encode(event.idempotency.bodyHash),
  event_id: UuidColumn.encoder(sql)(event.summary.id),
  ...Bucket.column(sql, Bucket.ofSession(event.summary.session))
})

/** The keys that do not exist, of one row or more. */
const inserting = (sql: SqlClient.SqlClient, values: Statement.Fragment | Statement.RecordInsertHelper) =>
  sql<{ key_hash: string }>`INSERT INTO idempotency_keys ${values}
    ON CONFLICT (project_id, key_hash${Bucket.andColumn(sql)}) DO NOTHING RETURNING key_hash`

const types = { project_id: "integer", key_hash: "varchar", body_hash: "varchar", event_id: "uuid" } as const

/**
 * Parts of one statement of Postgres that appends events. `first` inserts those of their keys that do not exist, if `isForeseen`, before
 * `areTaken` is asked. Then nothing but an error can undo that: `last` violates the index of the keys unless `isAppended`.
 */
export const inOneStatement = (sql: SqlClient.SqlClient) => {
  const columns = BulkValues.make(sql, BulkValues.named(types))
  const nothing = { first: sql.literal(""), areTaken: sql.literal("true"), last: sql.literal("") }
  return (
    project_id: number,
    events: ReadonlyArray<AppendEvent>,
    { isAppended, isForeseen }: Readonly<Record<"isAppended" | "isForeseen", Statement.Fragment>>
  ) => {
    const keyed = keyedOf(events)
    if (keyed.length === 0) return nothing
    const rows = keyed.map((each) => ({ ...rowOf(sql, project_id, each), project_id }))
    const insert = sql`INSERT INTO idempotency_keys ${columns.names} SELECT * FROM keyed`
    const before = expiredBefore(sql, events[0]!.summary)
    return {
      first: sql`, keyed ${columns.names} AS MATERIALIZED (${columns.of(rows)}
      ), taken AS (
        ${insert} WHERE ${isForeseen} ON CONFLICT (project_id, key_hash) DO NOTHING
        RETURNING 1
      )`,
      areTaken: sql`(SELECT count(*) FROM taken) = ${keyed.length}`,
      last: sql`, undone AS (${insert} WHERE (SELECT count(*) FROM taken) > 0 AND NOT ${isAppended}
      ), expired AS (
        ${deleteExpired(sql, project_id, before, expiredPerAdded * keyed.length, sql.literal(""))}
      )`
    }
  }
}

/** Inserts the keys of events at once. Returns false if one exists: then what was inserted must be rolled back. */
export const atOnce = (sql: SqlClient.SqlClient) => {
  const insert = BulkValues.ofOneRow(sql, BulkValues.named(types), (row, names) => inserting(sql, sql`${names} ${row}`))
  return (run: RunAtOnce, project_id: number, events: ReadonlyArray<AppendEvent>): boolean => {
    const keyed = keyedOf(events)
    if (keyed.length === 0) return true
    for (const each of keyed) {
      if (run(insert.text, insert.values(rowOf(sql, project_id, each))).length === 0) return false
    }
    const before = expiredBefore(sql, events[0]!.summary)
    run(...deleteExpired(sql, project_id, before, expiredPerAdded * keyed.length, sql.literal("")).compile())
    return true
  }
}

export const make = (sql: SqlClient.SqlClient) => {
  /** Returns the events whose keys exist already. */
  const insert = Effect.fnUntraced(function* (project_id: number, events: Keyed) {
    const rows = Array.from(events, (each) => rowOf(sql, project_id, each))
    const added = yield* inserting(sql, sql.insert(rows as unknown as [Record<string, unknown>]))
    return without(events, added)
  })

  /**
   * Deletes expired keys, and keys without an event (from a partial restore), which would block their events for ever. Locks
   * them in their order first.
   */
  const deleteInvalid = Effect.fnUntraced(function* (
    project_id: number,
    hashes: ReadonlyArray<string>,
    before: UuidColumn.StoredId,
    ofBuckets: (table?: string) => Statement.Fragment
  ) {
    const invalid = sql<{ key_hash: string }>`SELECT key_hash FROM idempotency_keys WHERE project_id = ${project_id}
      AND ${BulkValues.isAmong(sql, "key_hash", "varchar", hashes)}${ofBuckets()}
      AND (event_id < ${before} OR NOT EXISTS (SELECT 1 FROM events e
        WHERE e.project_id = idempotency_keys.project_id AND e.event_id = idempotency_keys.event_id
          ${ofBuckets("e.")}))
      ORDER BY key_hash ${Locks.update(sql)}`
    if (!Bucket.isDistributed(sql)) {
      yield* sql`WITH invalid AS MATERIALIZED (${invalid}) DELETE FROM idempotency_keys WHERE project_id = ${project_id}
        AND key_hash IN (SELECT key_hash FROM invalid)`
      return
    }
    const rows = yield* invalid
    if (rows.length === 0) return
    const found = rows.map(({ key_hash }) => key_hash)
    yield* sql`DELETE FROM idempotency_keys WHERE project_id = ${project_id} AND ${sql.in("key_hash", found)}${ofBuckets()}`
  })

  const takePart = Effect.fnUntraced(function* (project_id: number, keyed: Keyed, buckets: ReadonlyArray<number>) {
    const [first] = keyed.values()
    const before = expiredBefore(sql, first!.summary)
    const ofBuckets = (table = "") => Bucket.and(sql, buckets, table)
    const taken: Array<TakenKey> = []
    let left: Keyed = yield* insert(project_id, keyed)
    const attempt = Attempts.make("Storing idempotency keys")
    while (left.size > 0) {
      yield* attempt
      const hashes = Array.from(left.keys())
      yield* deleteInvalid(project_id, hashes, before, ofBuckets)
      const rows = yield* sql<TakenRow>`SELECT k.key_hash, k.body_hash, k.event_id, e.received_after
        FROM idempotency_keys k JOIN events e ON e.project_id = k.project_id AND e.event_id = k.event_id
          ${Bucket.andSame(sql, "e", "k")}
        WHERE k.project_id = ${project_id} AND ${sql.in("k.key_hash", hashes)}${ofBuckets("k.")}`
      for (const row of rows) taken.push(toTaken(left.get(row.key_hash)!, row))
      // These had expired, or have been erased concurrently: insert them again.
      const free = without(left, rows)
      left = free.size === 0 ? free : yield* insert(project_id, free)
    }
    yield* deleteExpired(sql, project_id, before, expiredPerAdded * keyed.size, ofBuckets())
    return taken
  })

  /**
   * Inserts the keys of events, and returns those that belong to other events. Waits for a transaction that has inserted the
   * same key. Comes first in a transaction, and inserts in the order of the hashes, to avoid deadlocks.
   */
  const take = Effect.fnUntraced(function* (project_id: number, events: ReadonlyArray<AppendEvent>) {
    const taken: Array<TakenKey> = []
    const parts = Bucket.split(sql, keyedOf(events), ([, { summary }]) => Bucket.ofSession(summary.session))
    for (const { buckets, rows } of parts) taken.push(...(yield* takePart(project_id, new Map(rows), buckets)))
    return taken
  })

  /** Deletes the keys of events of some buckets that are being erased. Comes first in the transaction, like `take`. */
  const remove = Effect.fnUntraced(function* (
    project_id: number,
    events: ReadonlyArray<UuidColumn.StoredId>,
    buckets: ReadonlyArray<number>
  ) {
    const isOfEvents = sql`project_id = ${project_id} AND ${sql.in("event_id", events)}${Bucket.and(sql, buckets)}`
    const locked = yield* sql`SELECT key_hash FROM idempotency_keys WHERE ${isOfEvents}
      ORDER BY key_hash ${Locks.update(sql)}`
    if (locked.length > 0) yield* sql`DELETE FROM idempotency_keys WHERE ${isOfEvents}`
  })

  return { take, remove }
}

/** The events whose keys have no row. */
const without = (events: Keyed, rows: ReadonlyArray<{ readonly key_hash: string }>): Keyed => {
  const left = new Map(events)
  for (const { key_hash } of rows) left.delete(key_hash)
  return left
}

const toTaken = ({ idempotency, project, summary }: KeyedEvent, row: TakenRow): TakenKey => {
  const id = UuidColumn.decode(row.event_id) as TakenKey["id"]
  return {
    project,
    session: summary.session,
    idempotency: { key: idempotency.key, bodyHash: Result.getOrThrow(Hex.decode(row.body_hash)) },
    id,
    receivedAt: time(EventTime.of(id) + Number(row.received_after))
  }
}
