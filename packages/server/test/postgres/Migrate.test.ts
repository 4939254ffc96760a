import { PostgresStorage } from "@tachograph/storage-postgres"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { randomBytes } from "node:crypto"
import { expect, inject, it } from "vitest"
import { run } from "../TachographProcess.ts"

it("creates nothing on a Postgres that cannot be distributed", async () => {
  const schema = `test_${randomBytes(8).toString("hex")}`
  const url = inject("postgresUrl")
  const storage = new URL(url)
  storage.searchParams.set("schema", schema)
  const { code, stderr, stdout } = await run(["migrate", "--distribute", "--storage", storage.href])
  expect([code, stdout]).toEqual([1, ""])
  expect(stderr).toContain("the database does not have the extension Citus")
  const found = Effect.flatMap(SqlClient.SqlClient, (sql) => sql`SELECT 1 FROM pg_namespace WHERE nspname = ${schema}`)
  expect(await Effect.runPromise(Effect.provide(found, PostgresStorage.client({ url })))).toEqual([])
})
