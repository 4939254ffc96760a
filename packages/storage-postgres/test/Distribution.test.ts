/** A Postgres without Citus. */
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { expect, it } from "vitest"
import { PostgresStorage } from "../src/index.ts"
import { freshSchema } from "./FreshSchema.ts"

it("creates nothing where the database does not have the extension Citus", async () => {
  const config = freshSchema()
  const test = Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient
    const { message } = yield* Effect.flip(PostgresStorage.distribute(config))
    expect(message).toContain("the database does not have the extension Citus")
    expect(yield* sql`SELECT 1 FROM pg_namespace WHERE nspname = ${config.schema!}`).toEqual([])
  })
  await Effect.runPromise(Effect.provide(test, PostgresStorage.client({ url: config.url, maxConnections: 1 })))
})
