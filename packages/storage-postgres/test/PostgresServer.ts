/**
 * The PostgreSQL of the test run: `TACHOGRAPH_TEST_POSTGRES_URL` where it is given, or else one of the run's own, gone with
 * the run. A run without any fails, and says what to do.
 */
import { Cause, Effect } from "effect"
import { SqlClient } from "effect/sql"
import type { TestProject } from "vitest/node"
import { PostgresStorage } from "../src/index.ts"
import { startPostgres } from "./StartPostgres.ts"

declare module "vitest" {
  interface ProvidedContext {
    /** Of a role that may create schemas. */
    readonly postgresUrl: string
  }
}

/** Better one line now than every test's failure later. */
const expectAnswer = async (url: string) => {
  const ping = Effect.flatMap(SqlClient.SqlClient, (sql) => sql`SELECT 1`)
  const exit = await Effect.runPromise(Effect.exit(Effect.provide(ping, PostgresStorage.client({ url }))))
  if (exit._tag === "Success") return
  throw new Error(
    "TACHOGRAPH_TEST_POSTGRES_URL names a PostgreSQL that does not answer. Mend it, or unset it: then the tests start their own.",
    { cause: Cause.squash(exit.cause) }
  )
}

export default async (project: TestProject) => {
  const given = process.env["TACHOGRAPH_TEST_POSTGRES_URL"]
  if (given) {
    await expectAnswer(given)
    project.provide("postgresUrl", given)
    return undefined
  }
  const server = await startPostgres(["max_connections=200", "fsync=off"])
  project.provide("postgresUrl", server.url)
  return server.remove
}
