/** Storage in a SQLite file: the embedded default. */
import type { Storage } from "@tachograph/core"
import { SqlStorage } from "@tachograph/storage-sql"
import { Effect, Layer, Schedule } from "effect"
import type { Migrator, SqlClient, SqlError } from "effect/sql"
import * as SqliteClient from "./SqliteClient.ts"

/** A file up to this size is written anew after an erasure: for less than half a second nobody else writes. In bytes. */
const vacuumUpTo = 64 * 1024 * 1024

/**
 * Deleted text is overwritten with zeros, but where SQLite has moved rows from one page to another, copies of them may lie
 * in the room between rows. A small file is written anew, without them; a larger one keeps them until somebody says VACUUM.
 *
 * Then the write-ahead log is emptied, in which pages lie as they were before. While somebody reads an older state it cannot
 * be; it is tried again for a while, and failing that happens with a later erasure, or when the file is closed.
 */
const runScrub = Effect.fnUntraced(function* (sql: SqlClient.SqlClient) {
  const [state] = yield* sql<{ readonly due: number; readonly bytes: number }>`
    SELECT user_version AS due, page_count * page_size AS bytes
    FROM pragma_user_version, pragma_page_count, pragma_page_size`
  if (state!.due === 0) return
  if (state!.bytes <= vacuumUpTo) yield* vacuum(sql)
  const emptied = yield* emptyLog(sql)
  if (!emptied) return
  yield* sql`PRAGMA user_version = 0`
  yield* emptyLog(sql)
})

/** By way of a file, which has what stays: it would be a second database in memory. */
const vacuum = (sql: SqlClient.SqlClient) =>
  Effect.ensuring(
    Effect.andThen(sql`PRAGMA temp_store = FILE`, sql`VACUUM`),
    Effect.ignore(sql`PRAGMA temp_store = MEMORY`)
  )

const emptyLog = (sql: SqlClient.SqlClient) =>
  sql<{ readonly busy: number }>`PRAGMA wal_checkpoint(TRUNCATE)`.pipe(
    Effect.repeat({ until: ([row]) => row?.busy !== 1, schedule: Schedule.spaced("50 millis"), times: 40 }),
    Effect.map(([row]) => row?.busy !== 1)
  )

/** The file's own version number, which nobody else uses, is 1 while it is due. */
const scrub: SqlStorage.Scrub = {
  request: (sql) => Effect.asVoid(sql`PRAGMA user_version = 1`),
  run: runScrub
}

/** Opens or creates the file, and brings its tables up to date. */
export const layer = (
  config: SqliteClient.SqliteClientConfig
): Layer.Layer<Storage, Migrator.MigrationError | SqlError.SqlError> =>
  SqlStorage.layer({ scrub }).pipe(Layer.provide(SqliteClient.layer(config)))

/** Opens the file, whose tables must be up to date. */
export const layerNoMigrations = (
  config: SqliteClient.SqliteClientConfig
): Layer.Layer<Storage, Migrator.MigrationError | SqlError.SqlError> =>
  SqlStorage.layerNoMigrations({ scrub }).pipe(Layer.provide(SqliteClient.layer(config)))
