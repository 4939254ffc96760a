/**
 * The PostgreSQL of the test run: `TACHOGRAPH_TEST_POSTGRES_URL` if it is set, otherwise a server that is started for the run
 * and removed after it. Without either, the run fails with advice.
 */
import type { TestProject } from "vitest/node"
import { startPostgres } from "./StartPostgres.ts"

declare module "vitest" {
  interface ProvidedContext {
    /** The role has the right to create schemas. */
    readonly postgresUrl: string
  }
}

/** Fails with one message, instead of failing every test. */
const expectAnswer = async (url: string) => {
  // Loaded here, because a run that starts its own PostgreSQL does not need them, and they take most of its processor time.
  const { Cause, Effect } = await import("effect")
  const { SqlClient } = await import("effect/sql")
  const { PostgresStorage } = await import("../src/index.ts")
  const ping = Effect.flatMap(SqlClient.SqlClient, (sql) => sql`SELECT 1`)
  const exit = await Effect.runPromise(Effect.exit(Effect.provide(ping, PostgresStorage.client({ url }))))
  if (exit._tag === "Success") return
  throw new Error(
    "TACHOGRAPH_TEST_POSTGRES_URL names a PostgreSQL that does not answer. Correct it, or unset it: then the tests start their own.",
    { cause: Cause.squash(exit.cause) }
  )
}

export default async (project: TestProject) => {
  const url = process.env["TACHOGRAPH_TEST_POSTGRES_URL"]
  if (url) {
    await expectAnswer(url)
    project.provide("postgresUrl", url)
    return undefined
  }
  const server = await startPostgres(["max_connections=200", "fsync=off"])
  project.provide("postgresUrl", server.url)
  return server.remove
}
