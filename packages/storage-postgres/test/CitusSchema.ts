/**
 * A schema with empty, distributed tables for each case of a test file, on the Citus at `TACHOGRAPH_TEST_CITUS_URL`. The cases
 * share one schema, as distributing takes some seconds.
 */
import { Effect, Layer, ManagedRuntime } from "effect"
import { SqlClient } from "effect/sql"
import { randomBytes } from "node:crypto"
import { afterAll, it } from "vitest"
import { PostgresStorage } from "../src/index.ts"

/** Every shard is a table, which takes time to create and to empty. */
export const fewShards = "-c citus.shard_count=8"

/** Undefined if there is none. */
export const citusUrl = process.env["TACHOGRAPH_TEST_CITUS_URL"] || undefined

/** Says in one line that a suite does not run. */
export const skip = (suite: string) =>
  it.skip(`${suite}: TACHOGRAPH_TEST_CITUS_URL is not set, so nothing runs on Citus`, () => undefined)

/** The URL with settings for its connections. */
export const withOptions = (text: string, options: string): string => {
  const url = new URL(text)
  url.searchParams.set("options", options)
  return url.href
}

/** A schema that does not exist yet. */
export const newSchema = (url: string) => ({
  url,
  schema: `test_${randomBytes(8).toString("hex")}`,
  // Long, because the tests must not fail on a busy machine.
  operationTimeout: 120_000
})

/** Drops a schema, if it exists. */
export const drop = (url: string, schema: string) =>
  Effect.flatMap(SqlClient.SqlClient, (sql) => sql`DROP SCHEMA IF EXISTS ${sql(schema)} CASCADE`).pipe(
    Effect.provide(PostgresStorage.client({ url, operationTimeout: 0 })),
    Effect.orDie
  )

/** Creates the schema, and removes it when the file has run. */
export const distributedSchema = (url: string) => {
  const config = { ...newSchema(url), maxConnections: 5 }
  const runtime = ManagedRuntime.make(
    Layer.unwrap(
      Effect.as(
        PostgresStorage.distribute({ ...config, url: withOptions(url, fewShards) }),
        PostgresStorage.client({ ...config, maxConnections: 1 })
      )
    )
  )
  afterAll(async () => {
    await runtime.dispose()
    // With a client of its own, which works also if the tables were not distributed.
    await Effect.runPromise(drop(url, config.schema))
  })
  const truncate = Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient
    const tables = yield* sql<{ name: string }>`SELECT tablename AS name FROM pg_tables
      WHERE schemaname = ${config.schema} AND tablename <> 'tachograph_migrations'`
    // Takes less time than TRUNCATE.
    yield* Effect.forEach(tables, ({ name }) => sql.unsafe(`DELETE FROM "${name}"`))
  })
  /** Resolves when the tables are empty. Only one case at a time can use them. */
  return () => runtime.runPromise(Effect.as(truncate, config))
}
