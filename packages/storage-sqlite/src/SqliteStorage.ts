/** Storage in a SQLite file: the embedded default. */
import type { Storage } from "@tachograph/core"
import { Migrations, SqlStorage } from "@tachograph/storage-sql"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import type { Migrator, SqlError } from "effect/sql"
import * as Reserve from "./file/Reserve.ts"
import * as Scrub from "./scrub/Scrub.ts"
import * as SqliteClient from "./SqliteClient.ts"

/**
 * Opens an existing file, for what only reads. Fails if its tables are not up to date. Operations that write
 * die. Scrubs nothing. SQLite may leave an empty log beside the file, which the next process that writes removes.
 */
export const layerReadOnly = (
  config: SqliteClient.SqliteClientConfig
): Layer.Layer<Storage, Migrator.MigrationError | SqlError.SqlError> =>
  Layer.unwrap(
    Effect.map(SqliteClient.SqliteClient, ({ verifyFile }) => SqlStorage.layerNoMigrations({ verify: verifyFile }))
  ).pipe(Layer.provide(SqliteClient.layer({ ...config, readOnly: true })))

const makeReserve = ({ file }: SqliteClient.SqliteClient): Effect.Effect<void> =>
  file === undefined ? Effect.void : Effect.promise(() => Reserve.make(file.path))

const over = (storage: typeof SqlStorage.layer, config: SqliteClient.SqliteClientConfig) =>
  Layer.unwrap(
    Effect.map(SqliteClient.SqliteClient, (client) =>
      storage({
        scrub: {
          request: Scrub.request(client),
          isDue: Scrub.isDue(client),
          run: (maxMs) => Effect.andThen(Scrub.run(client, maxMs), makeReserve(client))
        },
        // The client itself reuses the log, as far as it can be copied into the file.
        makeRoom: Effect.sync(() => client.file && Reserve.release(client.file.path)),
        verify: client.verifyFile
      })
    )
  ).pipe(Layer.provide(SqliteClient.layer(config)))

/** Opens or creates the file, and migrates its tables. */
export const layer = (
  config: SqliteClient.SqliteClientConfig
): Layer.Layer<Storage, Migrator.MigrationError | SqlError.SqlError> => over(SqlStorage.layer, config)

/** Opens the file. Fails if its tables are not up to date. */
export const layerNoMigrations = (
  config: SqliteClient.SqliteClientConfig
): Layer.Layer<Storage, Migrator.MigrationError | SqlError.SqlError> => over(SqlStorage.layerNoMigrations, config)

/** Opens or creates the file, migrates its tables, and returns the names of the migrations that it ran. */
export const migrate = (config: SqliteClient.SqliteClientConfig) =>
  Effect.provide(Migrations.run, SqliteClient.layer(config))

/** What `migrate` would run on an existing file. Changes nothing. */
export const pending = (config: SqliteClient.SqliteClientConfig) =>
  Effect.provide(Migrations.pending, SqliteClient.layer({ ...config, readOnly: true }))
