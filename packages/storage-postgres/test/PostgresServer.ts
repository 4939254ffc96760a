/**
 * The PostgreSQL of the test run: `TACHOGRAPH_TEST_POSTGRES_URL` where it is given, or else one of the run's own, gone with
 * the run. A run without any fails, and says what to do.
 */
import type { TestProject } from "vitest/node"
import { startPostgres } from "./StartPostgres.ts"

declare module "vitest" {
  interface ProvidedContext {
    /** Of a role that may create schemas. */
    readonly postgresUrl: string
  }
}

export default async (project: TestProject) => {
  const given = process.env["TACHOGRAPH_TEST_POSTGRES_URL"]
  if (given) {
    project.provide("postgresUrl", given)
    return undefined
  }
  const server = await startPostgres(["max_connections=200", "fsync=off"])
  project.provide("postgresUrl", server.url)
  return server.remove
}
