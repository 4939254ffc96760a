/** Storage in a SQLite file: the embedded default. */
import type { Storage } from "@tachograph/core"
import { SqlStorage } from "@tachograph/storage-sql"
import { Effect, Layer, Schedule } from "effect"
import type { Migrator, SqlClient, SqlError } from "effect/sql"
import * as SqliteClient from "./SqliteClient.ts"

/**
 * Empties the write-ahead log, in which pages lie as they were before. While somebody reads an older state it cannot be
 * emptied; then it is tried again for a while, and failing that happens with a later erasure, or when the file is closed.
 */
const scrub = (sql: SqlClient.SqlClient) =>
  sql<{ readonly busy: number }>`PRAGMA wal_checkpoint(TRUNCATE)`.pipe(
    Effect.repeat({ until: ([row]) => row?.busy !== 1, schedule: Schedule.spaced("50 millis"), times: 40 }),
    Effect.asVoid
  )

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
