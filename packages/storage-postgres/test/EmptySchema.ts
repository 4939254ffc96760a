/**
 * A schema with empty tables for each case of a test file. The cases share one schema, whose tables are emptied: that takes a
 * quarter of the processor time of creating the tables again.
 */
import { Effect, Layer, ManagedRuntime } from "effect"
import { SqlClient } from "effect/sql"
import { afterFile } from "../../../scripts/vitest/AfterFile.ts"
import { PostgresStorage } from "../src/index.ts"
import { freshSchema } from "./FreshSchema.ts"

const deleteRows = Effect.fnUntraced(function* (schema: string) {
  const sql = yield* SqlClient.SqlClient
  const tables = yield* sql<{ name: string }>`SELECT tablename AS name FROM pg_tables
    WHERE schemaname = ${schema} AND tablename <> 'tachograph_migrations'`
  const deletions = tables.map(({ name }, n) => `deletion_${n} AS (DELETE FROM "${name}")`)
  yield* sql.unsafe(`WITH ${deletions.join(", ")} SELECT`)
})

let opened: ReturnType<typeof open> | undefined

const open = () => {
  // The timeout (ms) is long, because the tests must not fail on a busy machine.
  const config = { ...freshSchema(), operationTimeout: 120_000 }
  const runtime = ManagedRuntime.make(
    Layer.unwrap(Effect.as(PostgresStorage.migrate(config), PostgresStorage.client({ ...config, maxConnections: 1 })))
  )
  afterFile(() => {
    opened = undefined
    return runtime.dispose()
  })
  return { empty: () => runtime.runPromise(Effect.as(deleteRows(config.schema!), config)) }
}

/** Resolves when the tables are empty. Only one case at a time can use them. */
export const emptySchema = () => (opened ??= open()).empty()

/** Opens an empty storage. */
export const emptyStorage = () =>
  Layer.unwrap(Effect.map(Effect.promise(emptySchema), (schema) => PostgresStorage.layer(schema)))
