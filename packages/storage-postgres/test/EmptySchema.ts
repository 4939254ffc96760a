/**
 * A schema with empty tables for each case of a test file. The cases share one schema, whose tables are emptied, and its connections:
 * most of the processor time of a short case would be that of making them.
 */
import { SqlStorage } from "@tachograph/storage-sql"
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
    Layer.unwrap(Effect.as(PostgresStorage.migrate(config), PostgresStorage.client(config)))
  )
  afterFile(() => {
    opened = undefined
    return runtime.dispose()
  })
  return { config, runtime }
}

const empty = () => {
  const { config, runtime } = (opened ??= open())
  return runtime.runPromise(Effect.andThen(deleteRows(config.schema!), Effect.context<SqlClient.SqlClient>()))
}

/** Resolves when the tables are empty. Only one case at a time can use them. */
export const emptySchema = async () => {
  await empty()
  return opened!.config
}

/** Opens an empty storage, with its client. */
export const emptyStorage = () =>
  Layer.unwrap(
    Effect.map(Effect.promise(empty), (client) =>
      SqlStorage.layerNoMigrations({ connections: 5, appendConcurrency: 2 }).pipe(
        Layer.provideMerge(Layer.succeedContext(client))
      )
    )
  )
