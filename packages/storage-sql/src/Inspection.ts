/** What a database says of itself, for `tachograph doctor`. Only reads, and needs no table of Tachograph. */
import { EventTime, type EventId } from "@tachograph/core"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import { type Migrator, SqlClient, type SqlError } from "effect/sql"
import * as CommitOrder from "./dialect/CommitOrder.ts"
import * as UuidColumn from "./dialect/UuidColumn.ts"
import * as Migrations from "./Migrations.ts"

export interface OfSqlite {
  /** Why the tables are not those of this version; undefined if they are. */
  readonly outOfDate: string | undefined
  readonly journalMode: string
  /** When the newest event was recorded, by the clock of then (epoch milliseconds). */
  readonly newestEventMs: number | undefined
}

export interface OfPostgres {
  readonly outOfDate: string | undefined
  readonly version: string
  /** Whether it follows another database, which alone is written to. */
  readonly isStandby: boolean
  /** Whether a transaction that says nothing may not write. */
  readonly isReadOnly: boolean
  readonly settings: Readonly<Record<(typeof settings)[number], string>>
  /** Connections that are open, of all programs; how many there may be; and how many this role may have, if fewer. */
  readonly connections: { readonly open: number; readonly most: number; readonly ofRole: number | undefined }
  /** The database's clock less that of this process (ms), and how long it took to ask: the difference is known to half of that. */
  readonly clock: { readonly aheadMs: number; readonly askedMs: number }
}

const settings = ["fsync", "full_page_writes", "synchronous_commit", "default_transaction_read_only"] as const

const outOfDate: Effect.Effect<string | undefined, SqlError.SqlError, SqlClient.SqlClient> = Migrations.check.pipe(
  Effect.as(undefined),
  Effect.catchTag("MigrationError", ({ message }: Migrator.MigrationError) => Effect.succeed(message))
)

export const ofSqlite: Effect.Effect<OfSqlite, SqlError.SqlError, SqlClient.SqlClient> = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const [mode] = yield* sql<{ journal_mode: string }>`PRAGMA journal_mode`
  const reason = yield* outOfDate
  const journalMode = mode!.journal_mode
  if (reason !== undefined) return { outOfDate: reason, journalMode, newestEventMs: undefined }
  const rows = yield* sql<{ id: UuidColumn.StoredId | null }>`SELECT
    (SELECT max(event_id) FROM events WHERE events.project_id = projects.project_id) AS id FROM projects`
  const times = rows.flatMap(({ id }) => (id === null ? [] : [EventTime.of(UuidColumn.decode(id) as EventId)]))
  return { outOfDate: undefined, journalMode, newestEventMs: times.length === 0 ? undefined : Math.max(...times) }
})

interface Row extends Record<(typeof settings)[number], string> {
  readonly server_version: string
  readonly is_standby: boolean
  readonly open: number
  readonly most: number
  /** -1 for any number. */
  readonly of_role: number
}

export const ofPostgres: Effect.Effect<OfPostgres, SqlError.SqlError, SqlClient.SqlClient> = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const [row] = yield* sql<Row>`SELECT
    ${sql.literal(settings.map((name) => `current_setting('${name}') AS ${name}`).join(", "))},
    current_setting('server_version') AS server_version,
    pg_is_in_recovery() AS is_standby,
    (SELECT count(*)::int FROM pg_stat_activity WHERE backend_type = 'client backend') AS open,
    current_setting('max_connections')::int - current_setting('superuser_reserved_connections')::int AS most,
    (SELECT rolconnlimit FROM pg_roles WHERE rolname = current_user) AS of_role`
  const before = yield* Clock.currentTimeMillis
  const [time] = yield* sql<{ now: number }>`SELECT ${CommitOrder.clock(sql)} AS now`
  const after = yield* Clock.currentTimeMillis
  const { is_standby, most, of_role, open, server_version, ...values } = row!
  return {
    outOfDate: yield* outOfDate,
    version: server_version,
    isStandby: is_standby,
    isReadOnly: values.default_transaction_read_only === "on",
    settings: values,
    connections: { open, most, ofRole: of_role < 0 ? undefined : of_role },
    clock: { aheadMs: time!.now - (before + after) / 2, askedMs: after - before }
  }
})
