/** Two server processes over the cluster at `TACHOGRAPH_TEST_CITUS_URL`, whose tables `tachograph migrate --distribute` makes. */
import { PostgresStorage } from "@tachograph/storage-postgres"
import { HttpClient } from "@tachograph/testkit"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { randomBytes } from "node:crypto"
import { afterAll, expect, it } from "vitest"
import { run, serve } from "../TachographProcess.ts"
import { record, title } from "../Workloads.ts"

const url = process.env["TACHOGRAPH_TEST_CITUS_URL"] || undefined
const apiKey = "a key for servers over a cluster"

if (url === undefined) {
  it.skip("Servers over Citus: TACHOGRAPH_TEST_CITUS_URL is not set, so nothing runs there", () => undefined)
} else {
  const schema = `test_${randomBytes(8).toString("hex")}`
  afterAll(async () => {
    const drop = Effect.flatMap(SqlClient.SqlClient, (sql) => sql`DROP SCHEMA IF EXISTS ${sql(schema)} CASCADE`)
    await Effect.runPromise(Effect.provide(drop, PostgresStorage.client({ url, operationTimeout: 0 })))
  })

  it(`two servers return events of the other one byte for byte: ${title}`, { timeout: 900_000 }, async () => {
    const storage = new URL(url)
    storage.searchParams.set("schema", schema)
    const env = { TACHOGRAPH_API_KEY: apiKey, TACHOGRAPH_STORAGE: storage.href }
    expect((await run(["migrate", "--distribute"], { env })).stdout).toContain("Distributed the tables")
    const servers = await Promise.all([1, 2].map(() => serve(["--port", "0"], { env })))
    const clients = servers.map((server) => HttpClient.open(server.url, apiKey))
    const recorded = await record(clients)
    expect(await recorded.differences(clients)).toEqual([])
    expect(recorded.events).toBeGreaterThanOrEqual(12)
    for (const { code } of await Promise.all(servers.map((server) => server.stop()))) expect(code).toBe(0)
  })
}
