/** Storage in a SQLite file: the embedded default. */
import type { Storage } from "@tachograph/core"
import { SqlStorage } from "@tachograph/storage-sql"
import { Layer } from "effect"
import type { Migrator, SqlError } from "effect/sql"
import * as SqliteClient from "./SqliteClient.ts"

/** Opens or creates the file, and brings its tables up to date. */
export const layer = (
  config: SqliteClient.SqliteClientConfig
): Layer.Layer<Storage, Migrator.MigrationError | SqlError.SqlError> =>
  SqlStorage.layer().pipe(Layer.provide(SqliteClient.layer(config)))

/** Opens the file, whose tables must be up to date. */
export const layerNoMigrations = (
  config: SqliteClient.SqliteClientConfig
): Layer.Layer<Storage, Migrator.MigrationError | SqlError.SqlError> =>
  SqlStorage.layerNoMigrations().pipe(Layer.provide(SqliteClient.layer(config)))
