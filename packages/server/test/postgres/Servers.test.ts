/** Several server processes over one Postgres. */
import { HttpClient, Replay } from "@tachograph/testkit"
import { randomBytes } from "node:crypto"
import { afterAll, beforeAll, describe, expect, inject, it } from "vitest"
import { run, type Running, serve } from "../TachographProcess.ts"
import { title, workloads } from "../Workloads.ts"

const apiKey = "a key for several servers"
const fingerprint = { language: "typescript", language_version: "7", system: "linux" }

/** `TACHOGRAPH_STORAGE` with a schema of its own; `TACHOGRAPH_TEST_POSTGRES_SERVED` says how servers reach the database. */
const storage = () => {
  const url = new URL(process.env["TACHOGRAPH_TEST_POSTGRES_SERVED"] ?? inject("postgresUrl"))
  if (url.searchParams.get("pooler") !== "true")
    url.searchParams.set("schema", `test_${randomBytes(8).toString("hex")}`)
  return url.href
}

describe("Four servers over one Postgres", () => {
  const env = { TACHOGRAPH_API_KEY: apiKey, TACHOGRAPH_STORAGE: storage() }
  let servers: ReadonlyArray<Running>
  let clients: ReadonlyArray<HttpClient.Client>

  beforeAll(async () => {
    servers = await Promise.all(Array.from({ length: 4 }, () => serve(["--port", "0"], { env })))
    clients = servers.map(({ url }) => HttpClient.make(HttpClient.at(url), apiKey))
  })
  afterAll(async () => {
    for (const { code } of await Promise.all(servers.map((server) => server.stop()))) expect(code).toBe(0)
  })

  it(`give back to the byte what another of them took: ${title}`, { timeout: 240_000 }, async () => {
    const { body } = await clients[0]!.put("/api/v1/fingerprints", fingerprint)
    // At once: each run through one of the four.
    const sent = await Promise.all(
      Object.values(workloads).map((bodies, n) => Replay.send(clients[n % 4]!, bodies(body.fingerprint_id)))
    )
    const different = await Promise.all(sent.map((run, n) => Replay.differences(clients[(n + 1) % 4]!, run)))
    expect(different.flat()).toEqual([])
    expect(sent.flat().length).toBeGreaterThanOrEqual(12)
  })

  it("refuse a revoked key within 10 seconds, all of them", async () => {
    const created = await run(["keys", "create", "--scope", "admin"], { env })
    const key = created.stdout.trim()
    const id = /key_\w+/.exec(created.stderr)![0]
    const statuses = () =>
      Promise.all(
        servers.map(async ({ url }) => (await HttpClient.make(HttpClient.at(url), key).get("/api/v1/events")).status)
      )
    expect(await statuses()).toEqual([200, 200, 200, 200])
    expect((await run(["keys", "revoke", id], { env })).code).toBe(0)
    await expect.poll(statuses, { timeout: 10_000, interval: 250 }).toEqual([401, 401, 401, 401])
  })

  it("number 200 versions created through all four without a gap", async () => {
    await clients[0]!.put("/api/v1/agents", { agent_name: "busy" })
    const answers = await Promise.all(
      Array.from({ length: 200 }, (_, n) =>
        clients[n % 4]!.put("/api/v1/agents/busy/agent-versions", { agent_version_name: `v${n}` })
      )
    )
    const numbers = answers.map(({ body }) => body.agent_version_number).sort((a, b) => a - b)
    expect(numbers).toEqual(Array.from({ length: 200 }, (_, n) => n + 1))
  })
})

describe("tachograph over Postgres", () => {
  it("says in one line why the database cannot be used, without the password", async () => {
    const url = new URL(storage())
    url.password = "wrong-secret"
    const { code, stderr } = await run(["serve", "--port", "0", "--storage", url.href])
    expect(stderr.trimEnd().split("\n")).toHaveLength(1)
    expect(stderr).toMatch(/Cannot open the storage \(Postgres, .*password authentication failed/)
    expect(stderr).not.toContain("wrong-secret")
    expect(code).toBe(1)
  })

  it("migrates in a step of its own", async () => {
    const env = { TACHOGRAPH_STORAGE: storage() }
    expect((await run(["migrate"], { env })).stdout).toBe("Ran 0001_initial\n")
    expect((await run(["migrate"], { env })).stdout).toBe("The tables are up to date\n")
  })
})
