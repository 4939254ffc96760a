/** Several server processes over one Postgres. */
import { HttpClient, RoundTrip } from "@tachograph/testkit"
import { PostgresStorage } from "@tachograph/storage-postgres"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { randomBytes } from "node:crypto"
import { afterAll, beforeAll, describe, expect, inject, it } from "vitest"
import * as Documented from "../Documented.ts"
import { run, type Running, serve } from "../TachographProcess.ts"
import { record, title } from "../Workloads.ts"

const apiKey = "a key for several servers"
const fingerprint = { language: "typescript", language_version: "7", system: "linux" }

/** A value of `TACHOGRAPH_STORAGE` with a new schema. `TACHOGRAPH_TEST_POSTGRES_SERVED` is the URL for servers, e.g. of a pooler. */
const storage = () => {
  const url = new URL(process.env["TACHOGRAPH_TEST_POSTGRES_SERVED"] ?? inject("postgresUrl"))
  if (url.searchParams.get("pooler") !== "true")
    url.searchParams.set("schema", `test_${randomBytes(8).toString("hex")}`)
  return url.href
}

const grants = Documented.statements("postgres.md", "GRANT")

describe.concurrent("Three servers over one Postgres", () => {
  const env = { TACHOGRAPH_API_KEY: apiKey, TACHOGRAPH_STORAGE: storage() }
  let servers: ReadonlyArray<Running>
  let clients: ReadonlyArray<HttpClient.Client>

  beforeAll(async () => {
    servers = await Promise.all(Array.from({ length: 3 }, () => serve(["--port", "0"], { env })))
    clients = servers.map(({ url }) => HttpClient.open(url, apiKey))
  })
  afterAll(async () => {
    for (const { code } of await Promise.all(servers.map((server) => server.stop()))) expect(code).toBe(0)
  })

  // Not beside the others, which the load would delay.
  it(`return events recorded by another server byte for byte: ${title}`, { concurrent: false }, async () => {
    const recorded = await record(clients)
    expect(await recorded.differences(clients)).toEqual([])
    expect(recorded.events).toBeGreaterThanOrEqual(12)
  })

  it("all reject a revoked key when they no longer have it cached", async ({ expect }) => {
    const created = await run(["keys", "create", "--scope", "admin"], { env })
    const key = created.stdout.trim()
    const id = /key_\w+/.exec(created.stderr)![0]
    const users = servers.map(({ url }) => HttpClient.open(url, key))
    const statuses = () => Promise.all(users.map(async ({ get }) => (await get("/api/v1/events")).status))
    expect(await statuses()).toEqual([200, 200, 200])
    expect((await run(["keys", "revoke", id], { env })).code).toBe(0)
    await expect.poll(statuses, { interval: 250 }).toEqual([401, 401, 401])
  })
})

describe.concurrent("tachograph over Postgres", () => {
  it("reports in one line why the database cannot be used, without the password", async () => {
    const url = "postgres://me:planted-secret@127.0.0.1:1/nowhere"
    const { code, stderr } = await run(["serve", "--port", "0", "--storage", url])
    expect(stderr.trimEnd().split("\n")).toHaveLength(1)
    expect(stderr).toContain("Cannot open the storage (Postgres, 127.0.0.1:1/nowhere): connect ECONNREFUSED")
    expect(stderr).not.toContain("planted-secret")
    expect(code).toBe(1)
  })

  it("migrates in a separate step, and then serves with a role that may not change tables", async ({ expect }) => {
    const admin = new URL(inject("postgresUrl"))
    const schema = `test_${randomBytes(8).toString("hex")}`
    admin.searchParams.set("schema", schema)
    const served = new URL(admin.href)
    served.username = `role_${schema}`
    served.password = "secret"
    const sql = <A extends object>(text: string) =>
      Effect.runPromise(
        Effect.flatMap(SqlClient.SqlClient, (client) => client.unsafe<A>(text)).pipe(
          Effect.provide(PostgresStorage.client({ url: admin.href, schema }))
        )
      )
    await sql(`CREATE ROLE "${served.username}" LOGIN PASSWORD 'secret'`)
    await sql(`CREATE SCHEMA "${schema}"`)
    await sql(`GRANT USAGE ON SCHEMA "${schema}" TO "${served.username}"`)
    const serveArgs = ["serve", "--port", "0", "--migrate", "no", "--storage", served.href]
    const early = await run(serveArgs)
    expect([early.code, early.stderr]).toEqual([1, expect.stringContaining("run `tachograph migrate` first")])

    const migrating = { env: { TACHOGRAPH_STORAGE: admin.href } }
    expect((await run(["migrate"], migrating)).stdout).toBe(
      "Ran 0001_initial, 0002_recorded, 0003_audit_log, 0004_stated_cost, 0005_call_times, 0006_partly_priced, 0007_waiting_parts, 0008_steps, 0009_failures, 0010_session_figures\n"
    )
    expect((await run(["migrate"], migrating)).stdout).toBe("The tables are up to date\n")
    for (const grant of grants)
      await sql(
        grant.replace("SCHEMA tachograph", `SCHEMA "${schema}"`).replace("TO tachograph", `TO "${served.username}"`)
      )

    const server = await serve([...serveArgs.slice(1), "--retain", "90d"], { env: { TACHOGRAPH_API_KEY: apiKey } })
    const client = HttpClient.open(server.url, apiKey)
    const { body } = await client.put("/api/v1/fingerprints", fingerprint)
    const sent = await RoundTrip.send(client, RoundTrip.sampleRun(body.fingerprint_id))
    expect(await RoundTrip.differences(client, sent)).toEqual([])
    expect((await client.put("/api/v1/people/driver-1", { properties: { a: 1 } })).status).toBe(200)
    expect((await client.get("/api/v1/storage")).body.events).toBe(sent.length)
    const usage = await run(["storage", "--json"], { env: { TACHOGRAPH_STORAGE: served.href } })
    expect(JSON.parse(usage.stdout)).toMatchObject([{ project: "default", events: sent.length }])
    const properties = { api: "aisdk", inputs: { n: 1 }, output: {} }
    const keyed = {
      event_name: "llm",
      fingerprint_id: body.fingerprint_id,
      session: "keyed",
      person: "driver-1",
      properties
    }
    const headers = { "idempotency-key": "a key of an event" }
    expect((await client.call("POST", "/api/v1/events", keyed, headers)).status).toBe(200)
    const erased = await client.call("DELETE", "/api/v1/people/driver-1")
    expect(erased.body).toMatchObject({ events: sent.length + 1, sessions: 2 })
    // Retention starts 10 s after the server, and logs statements that the role may not run. It takes the lease, then releases it.
    const leaseChanges = async () =>
      /^tachograph_storage_operation_seconds_count\{.*operation="takeLease".*\} (\d+)$/m.exec(
        (await client.get("/metrics")).text
      )?.[1]
    await expect.poll(leaseChanges, { interval: 200 }).toBe("2")
    expect((await server.stop()).stderr).toBe("")
    const vacuums = Documented.statements("storage.md", "VACUUM")
    expect(vacuums).toHaveLength(2)
    const deletedFrom = async () => {
      const select = "SELECT relname AS name FROM pg_stat_user_tables"
      const rows = await sql<{ name: string }>(`${select} WHERE schemaname = '${schema}' AND n_tup_del > 0`)
      return rows.map(({ name }) => name)
    }
    // Postgres counts what a connection has done when that ends.
    await expect
      .poll(deletedFrom, { interval: 500 })
      .toEqual(expect.arrayContaining(["events", "idempotency_keys", "packs", "people"]))
    for (const vacuum of vacuums) {
      const tables = vacuum.match(/\w+/g)
      expect(tables).toEqual(expect.arrayContaining(await deletedFrom()))
      await sql(vacuum)
    }
    await expect(sql(`SET ROLE "${served.username}"; DROP TABLE "${schema}".events`)).rejects.toThrow()
    await sql(`DROP SCHEMA "${schema}" CASCADE`)
    await sql(`DROP ROLE "${served.username}"`)
  })
})
