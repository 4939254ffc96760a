/** Storage in a SQLite file: the embedded default. */
import type { Storage } from "@tachograph/core"
import { SqlStorage } from "@tachograph/storage-sql"
import { Effect, Layer, Schedule } from "effect"
import type { Migrator, SqlClient, SqlError } from "effect/sql"
import * as SqliteClient from "./SqliteClient.ts"

/** Bytes of the largest file that is rewritten after an erasure. It blocks writers for less than half a second. */
const maxVacuumBytes = 64 * 1024 * 1024

/**
 * SQLite overwrites deleted text with zeros, but moving rows between pages may leave copies of them in the pages' free space.
 * A small file is rewritten without them; a larger one keeps them until the operator runs VACUUM.
 *
 * Then the write-ahead log is truncated, which holds former versions of pages. That fails while a reader uses an older
 * snapshot; it is retried for 2 s, and otherwise happens after a later erasure, or when the file is closed.
 */
const runScrub = Effect.fnUntraced(function* (sql: SqlClient.SqlClient) {
  const [state] = yield* sql<{ readonly due: number; readonly bytes: number }>`
    SELECT user_version AS due, page_count * page_size AS bytes
    FROM pragma_user_version, pragma_page_count, pragma_page_size`
  if (state!.due === 0) return
  if (state!.bytes <= maxVacuumBytes) yield* vacuum(sql)
  if (!(yield* truncateLog(sql))) return
  yield* sql`PRAGMA user_version = 0`
  yield* truncateLog(sql)
})

/** Uses a temporary file: in memory, the copy would take as much as the database. It holds no erased text. */
const vacuum = (sql: SqlClient.SqlClient) =>
  Effect.ensuring(
    Effect.andThen(sql`PRAGMA temp_store = FILE`, sql`VACUUM`),
    Effect.ignore(sql`PRAGMA temp_store = MEMORY`)
  )

/** Returns whether the log was truncated. */
const truncateLog = (sql: SqlClient.SqlClient) =>
  sql<{ readonly busy: number }>`PRAGMA wal_checkpoint(TRUNCATE)`.pipe(
    Effect.repeat({ until: ([row]) => row?.busy !== 1, schedule: Schedule.spaced("50 millis"), times: 40 }),
    Effect.map(([row]) => row?.busy !== 1)
  )

/** `user_version`, a number in the file's header that is free for applications, is 1 while a scrub is due. */
const scrub: SqlStorage.Scrub = {
  request: (sql) => Effect.asVoid(sql`PRAGMA user_version = 1`),
  run: runScrub
}

const over = (storage: typeof SqlStorage.layer, config: SqliteClient.SqliteClientConfig) =>
  Layer.unwrap(Effect.map(SqliteClient.SqliteClient, ({ verifyFile }) => storage({ scrub, verify: verifyFile }))).pipe(
    Layer.provide(SqliteClient.layer(config))
  )

/** Opens or creates the file, and migrates its tables. */
export const layer = (
  config: SqliteClient.SqliteClientConfig
): Layer.Layer<Storage, Migrator.MigrationError | SqlError.SqlError> => over(SqlStorage.layer, config)

/** Opens the file. Fails if its tables are not up to date. */
export const layerNoMigrations = (
  config: SqliteClient.SqliteClientConfig
): Layer.Layer<Storage, Migrator.MigrationError | SqlError.SqlError> => over(SqlStorage.layerNoMigrations, config)
