/** A store that can be kept and restored, to damage it again and again. */
import type { Storage } from "@tachograph/core"
import { PostgresStorage } from "@tachograph/storage-postgres"
import { SqliteClient, SqliteStorage } from "@tachograph/storage-sqlite"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import type { SqlClient } from "effect/sql"
import { randomBytes } from "node:crypto"
import { copyFileSync, existsSync, rmSync } from "node:fs"
import type { Database } from "../harness/Postgres.ts"
import * as Store from "../harness/Store.ts"

export interface DamageStore {
  readonly kind: Store.Kind
  /** Opens it, as another process would. */
  readonly storage: Layer.Layer<Storage, unknown>
  readonly client: Layer.Layer<SqlClient.SqlClient, unknown>
  /** The database file, if there is one. */
  readonly file: string | undefined
  /** Begins an empty store. Nothing may have it open, here and below. */
  readonly clear: () => Promise<void>
  /** Keeps its state, for `restore`. */
  readonly keep: () => Promise<void>
  readonly restore: () => Promise<void>
  readonly remove: () => Promise<void>
}

export const sqlite = (): DamageStore => {
  const { file, remove } = Store.sqlite()
  const kept = `${file}.kept`
  const clear = () => {
    for (const suffix of ["", "-wal", "-shm"]) rmSync(`${file}${suffix}`, { force: true })
  }
  return {
    kind: "sqlite",
    storage: Layer.fresh(SqliteStorage.layer({ filename: file })),
    client: Layer.fresh(SqliteClient.layer({ filename: file })),
    file,
    clear: async () => clear(),
    keep: async () => {
      if (existsSync(`${file}-wal`)) throw new Error("The database is still open")
      copyFileSync(file, kept)
    },
    restore: async () => {
      clear()
      copyFileSync(kept, file)
    },
    remove
  }
}

/** How long an operation may take on a busy machine (ms). */
const operationTimeout = 60_000

export const postgres = async (server: Database): Promise<DamageStore> => {
  const schema = `fuzz_${randomBytes(6).toString("hex")}`
  const kept = `${schema}_kept`
  const config = { url: server.url, schema, maxConnections: 3, operationTimeout }
  await Effect.runPromise(PostgresStorage.migrate(config))
  const rows = await server.run(
    "SELECT tablename FROM pg_tables WHERE schemaname = current_schema() AND tablename <> 'tachograph_migrations'",
    schema
  )
  const tables = rows.map(({ tablename }) => String(tablename))
  const truncate = `TRUNCATE ${tables.map((table) => `"${schema}"."${table}"`).join(", ")};`
  const dropKept = `DROP SCHEMA IF EXISTS "${kept}" CASCADE;`
  const runAll = async (...statements: ReadonlyArray<string>) =>
    void (await server.run(`DO $$ BEGIN ${statements.join(" ")} END $$`))
  return {
    kind: "postgres",
    storage: Layer.fresh(PostgresStorage.layerNoMigrations(config)),
    client: Layer.fresh(PostgresStorage.client({ ...config, maxConnections: 1 })),
    file: undefined,
    clear: () => runAll(truncate),
    keep: () =>
      runAll(
        dropKept,
        `CREATE SCHEMA "${kept}";`,
        ...tables.map((table) => `CREATE TABLE "${kept}"."${table}" AS TABLE "${schema}"."${table}";`)
      ),
    restore: () =>
      runAll(
        truncate,
        ...tables.map((table) => `INSERT INTO "${schema}"."${table}" SELECT * FROM "${kept}"."${table}";`)
      ),
    remove: () => runAll(dropKept, `DROP SCHEMA "${schema}" CASCADE;`)
  }
}
