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
const scrub = Effect.fnUntraced(function* (sql: SqlClient.SqlClient) {
  const [size] = yield* sql<{ readonly bytes: number }>`SELECT page_count * page_size AS bytes
    FROM pragma_page_count, pragma_page_size`
  if (size!.bytes <= vacuumUpTo) yield* sql`VACUUM`
  yield* sql<{ readonly busy: number }>`PRAGMA wal_checkpoint(TRUNCATE)`.pipe(
    Effect.repeat({ until: ([row]) => row?.busy !== 1, schedule: Schedule.spaced("50 millis"), times: 40 })
  )
})

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
