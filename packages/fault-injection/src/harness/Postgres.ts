/** A PostgreSQL server for the run, which can be killed and frozen. */
import { PostgresStorage } from "@tachograph/storage-postgres"
import * as Effect from "effect/Effect"
import { SqlClient } from "effect/sql"
import { readFileSync } from "node:fs"
import { join } from "node:path"
import * as Processes from "./Processes.ts"

/** A running server. */
export interface Database {
  readonly url: string
  readonly run: (statement: string, schema?: string) => Promise<ReadonlyArray<Record<string, unknown>>>
}

export interface Postgres extends Database {
  /** Sends SIGKILL to all its processes. */
  readonly kill: () => Promise<void>
  /** Resolves when the server accepts connections. */
  readonly start: () => Promise<void>
  /** Sends SIGSTOP to all its processes. */
  readonly freeze: () => void
  readonly thaw: () => void
  readonly remove: () => Promise<void>
}

interface Started {
  readonly url: string
  readonly start: () => Promise<void>
  readonly remove: () => Promise<void>
}

export const databaseAt = (url: string): Database => ({
  url,
  run: (statement, schema) =>
    Effect.runPromise(
      Effect.flatMap(SqlClient.SqlClient, (sql) => sql.unsafe<Record<string, unknown>>(statement)).pipe(
        Effect.provide(PostgresStorage.client({ url, schema, maxConnections: 1, operationTimeout: 0 }))
      )
    )
})

export const start = async (): Promise<Postgres> => {
  const starter = new URL("test/StartPostgres.ts", import.meta.resolve("@tachograph/storage-postgres/package.json"))
  const { startPostgres } = (await import(starter.href)) as { readonly startPostgres: () => Promise<Started> }
  const server = await startPostgres()

  const { run, url } = databaseAt(server.url)
  const folder = String((await run("SHOW data_directory"))[0]!["data_directory"])
  const processes = () => Processes.treeOf(Number.parseInt(readFileSync(join(folder, "postmaster.pid"), "utf8")))
  let frozen: ReadonlyArray<number> = []
  const thaw = () => {
    Processes.signal(frozen, "SIGCONT")
    frozen = []
  }
  // Frozen processes would outlive the program.
  process.prependListener("exit", thaw)

  return {
    url,
    run,
    kill: async () => {
      const all = processes()
      Processes.signal(all, "SIGKILL")
      await Processes.exited(all)
    },
    start: server.start,
    freeze: () => {
      frozen = processes()
      Processes.signal(frozen, "SIGSTOP")
    },
    thaw,
    remove: server.remove
  }
}
