/** In which order the transactions that append events become visible. SQLite has one writer at a time; Postgres has many. */
import { type EventId, EventTime } from "@tachograph/core"
import * as Effect from "effect/Effect"
import type { SqlClient, SqlError, Statement } from "effect/sql"
import * as Bucket from "./Bucket.ts"
import * as Dialects from "./Dialects.ts"
import * as UuidColumn from "./UuidColumn.ts"

/**
 * How much older than its transaction an id may be, by the clock of a database with many writers (ms). It covers the time from the
 * id to the transaction, and the difference between the clocks of a server and the database.
 */
export const allowanceMs = 1_000

/** For a database with one writer: selects the greatest id of an event of the project, or of one that was erased. */
export const selectNewest = (sql: SqlClient.SqlClient, project_id: number, now: number) => {
  const limit = UuidColumn.encoder(sql)(EventTime.limitOf(now))
  return sql<{ id: UuidColumn.StoredId | null }>`SELECT max(
      coalesce((SELECT erased_to FROM projects WHERE project_id = ${project_id}), x'00'),
      coalesce((SELECT max(event_id) FROM events WHERE project_id = ${project_id} AND event_id < ${limit}), x'00')
    ) AS id`
}

/** What `selectNewest` has selected. */
export const newestIn = ([row]: ReadonlyArray<{ readonly id?: unknown }>): EventId | undefined => {
  const id = row?.id
  return id instanceof Uint8Array && id.length === 16 ? (UuidColumn.decode(id) as EventId) : undefined
}

export const newest = (sql: SqlClient.SqlClient, project_id: number, now: number) =>
  Effect.map(selectNewest(sql, project_id, now), newestIn)

/** Keeps the ids of events of a project that are being erased, for `newest`. */
export const keepErased = (
  sql: SqlClient.SqlClient,
  project_id: number,
  ids: ReadonlyArray<UuidColumn.StoredId>
): Effect.Effect<void, SqlError.SqlError> =>
  Dialects.of(sql).isSerial && ids.length > 0
    ? Effect.asVoid(sql`UPDATE projects SET erased_to = max(coalesce(erased_to, x'00'), ${ids.at(-1)!})
        WHERE project_id = ${project_id}`)
    : Effect.void

/** For Postgres: its clock when the expression is evaluated, in epoch milliseconds. */
export const clock = (sql: SqlClient.SqlClient): Statement.Fragment => milliseconds(sql, "clock_timestamp()")

const milliseconds = (sql: SqlClient.SqlClient, time: string): Statement.Fragment =>
  sql.literal(`CAST(1000 * extract(epoch FROM ${time}) AS double precision)`)

/** The clock as a column `now` that follows others. None where there is one writer, or nodes with clocks of their own. */
export const andClock = (sql: SqlClient.SqlClient): Statement.Fragment =>
  Dialects.of(sql).isSerial || Bucket.isDistributed(sql) ? sql.literal("") : sql`, ${clock(sql)} AS now`

/** Transactions that may append events and have not ended, and the database's clock before they were looked for. */
export interface Writers {
  /** Epoch milliseconds. */
  readonly atMs: number
  readonly transactions: ReadonlyArray<string>
}

/**
 * Whether a transaction is among those that have not ended. A number of a transaction names its session and counts: `7/203`. While
 * Citus commits on the other nodes what they have prepared, it still has its locks, as `7/0`.
 */
export const isUnderWay = (transaction: string, current: ReadonlySet<string>): boolean =>
  current.has(transaction) || current.has(transaction.replace(/\/.*/, "/0"))

/** The locks of transactions that append events. */
const appending = (sql: SqlClient.SqlClient) => sql`FROM pg_locks AS held
  WHERE locktype = 'relation' AND mode = 'RowExclusiveLock' AND granted AND relation = CAST('sessions' AS regclass)
    AND database = (SELECT oid FROM pg_database WHERE datname = current_database())`

/**
 * For Postgres. A transaction locks the table `sessions` before it inserts events, and gives the lock back when they are visible; with
 * Citus, unless it loses the connection to a node (`TwoPhaseCommit.ts`, `LostCommits.ts`). So this finds those of all servers that
 * connect to the same node. Unlike a snapshot it leaves out the transactions of other applications and databases.
 */
export const writers = (sql: SqlClient.SqlClient): Effect.Effect<Writers, SqlError.SqlError> =>
  Effect.map(
    sql<{ at: number; transactions: ReadonlyArray<string> }>`SELECT
        ${milliseconds(sql, "statement_timestamp()")} AS at,
        ARRAY(SELECT virtualtransaction ${appending(sql)}) AS transactions`,
    ([row]) => ({ atMs: row!.at, transactions: row!.transactions })
  )

/**
 * For Postgres: when the oldest began of the transactions that `writers` finds, or the database's clock if there is none (epoch
 * milliseconds). Undefined if the role may not see when one began, or if one has ended meanwhile.
 */
export const oldestWriter = (sql: SqlClient.SqlClient): Effect.Effect<number | undefined, SqlError.SqlError> =>
  Effect.map(
    sql<{ begun: number; isKnown: boolean }>`SELECT
        ${milliseconds(sql, "least(min(xact_start), statement_timestamp())")} AS begun,
        count(xact_start) = count(*) AS "isKnown"
      FROM (SELECT pid ${appending(sql)}) AS held LEFT JOIN pg_stat_activity USING (pid)`,
    ([row]) => (row!.isKnown ? row!.begun : undefined)
  )
