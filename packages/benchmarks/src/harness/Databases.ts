/** Databases that are made for one measurement, and gone after it. */
import type { Storage } from "@tachograph/core"
import { PostgresStorage } from "@tachograph/storage-postgres"
import { SqliteClient, SqliteStorage } from "@tachograph/storage-sqlite"
import { Effect, type Layer } from "effect"
import { SqlClient } from "effect/sql"
import { randomBytes } from "node:crypto"
import { mkdtempSync, rmSync, statSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"

type Sql = SqlClient.SqlClient

export interface Database {
  readonly kind: "SQLite" | "Postgres"
  /** What a process of its own needs to open it. */
  readonly place: string
  readonly storage: Layer.Layer<Storage, unknown>
  readonly client: Layer.Layer<Sql, unknown>
  /** With a connection of its own. */
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
    place: `sqlite:${file}`,
    storage: SqliteStorage.layer({ filename: file }),
    client,
    query: queryOver(client)
  }
}

const postgresAt = (url: string, schema: string): Omit<Database, "remove"> => {
  const client = PostgresStorage.client({ url, schema, maxConnections: 1, operationTimeout: 0 })
  return {
    kind: "Postgres",
    place: `${schema}@${url}`,
    storage: PostgresStorage.layer({ url, schema }),
    client,
    query: queryOver(client)
  }
}

/** A file in a folder of its own. */
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

/** A schema of its own in a database. */
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

/** What another process has made. */
export const open = (place: string): Omit<Database, "remove"> => {
  const [, file] = /^sqlite:(.*)$/s.exec(place) ?? []
  if (file !== undefined) return sqliteAt(file)
  const [, schema = "", url = ""] = /^(\w+)@(.*)$/s.exec(place) ?? []
  return postgresAt(url, schema)
}

export const fileOf = ({ place }: Database): string => place.slice("sqlite:".length)
export const schemaOf = ({ place }: Database): string => place.slice(0, place.indexOf("@"))
/** As `tachograph serve` takes it. */
export const urlOf = (database: Database): string => {
  if (database.kind === "SQLite") return database.place
  const url = new URL(database.place.slice(database.place.indexOf("@") + 1))
  url.searchParams.set("schema", schemaOf(database))
  return url.href
}
export const sizeOf = (file: string): number => statSync(file, { throwIfNoEntry: false })?.size ?? 0

export interface OwnPostgres {
  readonly url: string
  readonly version: string
  readonly remove: () => Promise<void>
}

/** The one that is given, or else one of the benchmark's own, with its settings as they come. */
export const startPostgres = async (): Promise<OwnPostgres> => {
  const given = process.env["TACHOGRAPH_TEST_POSTGRES_URL"]
  const starter = new URL("test/StartPostgres.ts", import.meta.resolve("@tachograph/storage-postgres/package.json"))
  const { startPostgres: start } = (await import(starter.href)) as {
    readonly startPostgres: () => Promise<Omit<OwnPostgres, "version">>
  }
  const server = given ? { url: given, remove: () => Promise.resolve() } : await start()
  const [row] = await queryOver(PostgresStorage.client({ url: server.url }))(
    (sql) => sql<{ version: string }>`SELECT current_setting('server_version') AS version`
  )
  return { ...server, version: row!.version }
}
