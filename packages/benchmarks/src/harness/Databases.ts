/** Temporary databases for single measurements. */
import type { Storage } from "@tachograph/core"
import { PostgresStorage } from "@tachograph/storage-postgres"
import { SqliteClient, SqliteStorage } from "@tachograph/storage-sqlite"
import * as Effect from "effect/Effect"
import type * as Layer from "effect/Layer"
import { SqlClient } from "effect/sql"
import { randomBytes } from "node:crypto"
import { mkdtempSync, rmSync, statSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"

type Sql = SqlClient.SqlClient

export interface Database {
  readonly kind: "SQLite" | "Postgres"
  /** The argument of `open` in another process. */
  readonly address: string
  readonly storage: Layer.Layer<Storage, unknown>
  readonly client: Layer.Layer<Sql, unknown>
  /** Opens a connection for `use`. */
  readonly query: <A>(use: (sql: Sql) => Effect.Effect<A, unknown>) => Promise<A>
  readonly remove: () => Promise<void>
}

const queryOver =
  (client: Layer.Layer<Sql, unknown>): Database["query"] =>
  (use) =>
    Effect.runPromise(Effect.provide(Effect.flatMap(SqlClient.SqlClient, use), client))

const sqliteAt = (file: string): Omit<Database, "remove"> => {
  const client = SqliteClient.layer({ filename: file })
  return {
    kind: "SQLite",
    address: `sqlite:${file}`,
    storage: SqliteStorage.layer({ filename: file }),
    client,
    query: queryOver(client)
  }
}

const postgresAt = (url: string, schema: string): Omit<Database, "remove"> => {
  const client = PostgresStorage.client({ url, schema, maxConnections: 1, operationTimeout: 0 })
  return {
    kind: "Postgres",
    address: `${schema}@${url}`,
    storage: PostgresStorage.layer({ url, schema }),
    client,
    query: queryOver(client)
  }
}

/** A file in a new folder. */
export const sqlite = (): Database => {
  const folder = mkdtempSync(join(tmpdir(), "tachograph-benchmark-"))
  const remove = () => rmSync(folder, { recursive: true, force: true })
  process.once("exit", remove)
  return {
    ...sqliteAt(join(folder, "benchmark.db")),
    remove: async () => {
      remove()
      process.off("exit", remove)
    }
  }
}

/** A new schema in a database. */
export const postgres = (url: string): Database => {
  const schema = `benchmark_${randomBytes(6).toString("hex")}`
  const database = postgresAt(url, schema)
  return {
    ...database,
    remove: () =>
      queryOver(PostgresStorage.client({ url }))((sql) => sql`DROP SCHEMA IF EXISTS ${sql(schema)} CASCADE`).then(
        () => {}
      )
  }
}

/** Opens a database created by another process. */
export const open = (address: string): Omit<Database, "remove"> => {
  const [, file] = /^sqlite:(.*)$/s.exec(address) ?? []
  if (file !== undefined) return sqliteAt(file)
  const [, schema = "", url = ""] = /^(\w+)@(.*)$/s.exec(address) ?? []
  return postgresAt(url, schema)
}

export const fileOf = ({ address }: Database): string => address.slice("sqlite:".length)
export const schemaOf = ({ address }: Database): string => address.slice(0, address.indexOf("@"))
/** The value of `--storage`. */
export const urlOf = (database: Database): string => {
  if (database.kind === "SQLite") return database.address
  const url = new URL(database.address.slice(database.address.indexOf("@") + 1))
  url.searchParams.set("schema", schemaOf(database))
  return url.href
}
export const sizeOf = (file: string): number => statSync(file, { throwIfNoEntry: false })?.size ?? 0

export interface OwnPostgres {
  readonly url: string
  readonly version: string
  readonly remove: () => Promise<void>
}

/** `TACHOGRAPH_TEST_POSTGRES_URL`, or else a new server with default settings. */
export const startPostgres = async (): Promise<OwnPostgres> => {
  const givenUrl = process.env["TACHOGRAPH_TEST_POSTGRES_URL"]
  const starter = new URL("test/StartPostgres.ts", import.meta.resolve("@tachograph/storage-postgres/package.json"))
  const { startPostgres: start } = (await import(starter.href)) as {
    readonly startPostgres: () => Promise<Omit<OwnPostgres, "version">>
  }
  const server = givenUrl ? { url: givenUrl, remove: () => Promise.resolve() } : await start()
  const [row] = await queryOver(PostgresStorage.client({ url: server.url }))(
    (sql) => sql<{ version: string }>`SELECT current_setting('server_version') AS version`
  )
  return { ...server, version: row!.version }
}
