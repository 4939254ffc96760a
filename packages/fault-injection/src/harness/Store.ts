/** The storage of one fault: a new SQLite file, or a new schema of PostgreSQL or of a cluster. */
import { PostgresStorage } from "@tachograph/storage-postgres"
import * as Effect from "effect/Effect"
import { randomBytes } from "node:crypto"
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { DatabaseSync } from "node:sqlite"
import type { Cluster } from "./Citus.ts"
import type { Database, Postgres } from "./Postgres.ts"

interface Common {
  /** The value of `TACHOGRAPH_STORAGE`. */
  readonly url: string
  readonly run: (statement: string) => Promise<void>
  /** Problems reported by the database's own integrity check. */
  readonly problems: () => Promise<ReadonlyArray<string>>
  readonly remove: () => Promise<void>
}

export interface SqliteStore extends Common {
  readonly kind: "sqlite"
  readonly file: string
}

export interface PostgresStore extends Common {
  readonly kind: "postgres"
  readonly postgres: Postgres
}

export interface CitusStore extends Common {
  readonly kind: "citus"
  readonly cluster: Cluster
  readonly schema: string
}

export type Store = SqliteStore | PostgresStore | CitusStore
export type Kind = Store["kind"]

/** Opens a connection for `use`. */
const withDatabase = <A>(file: string, use: (database: DatabaseSync) => A): A => {
  const database = new DatabaseSync(file, { timeout: 5_000 })
  try {
    return use(database)
  } finally {
    database.close()
  }
}

const sqliteIn = (folder: string): Omit<SqliteStore, "remove"> => {
  const file = join(folder, "faults.db")
  return {
    kind: "sqlite",
    file,
    url: `sqlite:${file}`,
    run: async (statement) => withDatabase(file, (database) => database.exec(statement)),
    problems: async () =>
      withDatabase(file, (database) =>
        database
          .prepare("PRAGMA integrity_check")
          .all()
          .map((row) => String(row["integrity_check"]))
          .filter((line) => line !== "ok")
      )
  }
}

export const sqlite = (): SqliteStore => {
  const folder = mkdtempSync(join(tmpdir(), "tachograph-faults-"))
  const clean = () => rmSync(folder, { recursive: true, force: true })
  process.once("exit", clean)
  return {
    ...sqliteIn(folder),
    remove: async () => {
      process.off("exit", clean)
      clean()
    }
  }
}

const schemaIn = (server: Database) => {
  const schema = `faults_${randomBytes(6).toString("hex")}`
  const url = new URL(server.url)
  url.searchParams.set("schema", schema)
  const run = async (statement: string) => {
    await server.run(statement, schema)
  }
  return {
    schema,
    url: url.href,
    run,
    // PostgreSQL recovers its files at startup, and has no integrity check without an extension.
    problems: async () => [],
    remove: () => run(`DROP SCHEMA IF EXISTS "${schema}" CASCADE`)
  }
}

export const postgres = (server: Postgres): PostgresStore => ({
  kind: "postgres",
  postgres: server,
  ...schemaIn(server)
})

/** With its tables, which are distributed. */
export const citus = async (cluster: Cluster): Promise<CitusStore> => {
  const own = schemaIn(cluster)
  const remove = async () => {
    for (const node of [...cluster.workers, cluster.coordinator]) await node.start()
    await own.remove()
  }
  const store: CitusStore = { kind: "citus", cluster, ...own, remove }
  const config = { url: cluster.url, schema: store.schema }
  await Effect.runPromise(PostgresStorage.distribute(config))
  return store
}
