/** Every endpoint with every kind of key, compared with the table in `docs/keys.md`. A failure prints the correct table. */
import { TachographApi } from "@tachograph/api"
import { ApiKeys, MemoryStorage, ProjectId, type Scope, Storage } from "@tachograph/core"
import { HttpClient } from "@tachograph/testkit"
import { DateTime, Effect, Layer, ManagedRuntime, Redacted } from "effect"
import { HttpApi } from "effect/http-api"
import { createHash } from "node:crypto"
import { readFileSync } from "node:fs"
import { expect, it } from "vitest"
import { otlpPaths } from "../../src/Engine.ts"
import { createTachograph } from "../../src/index.ts"

/** Long enough to be shared by all events. */
const system = "Be careful. ".repeat(200)

/** Valid bodies, so that only the key decides. The names exist in the project `default`. */
const bodies: Readonly<Record<string, (fingerprintId: string) => object>> = {
  createEvent: (fingerprint_id) => ({
    event_name: "llm",
    properties: { api: "aisdk", inputs: { system }, output: {} },
    fingerprint_id,
    session: "grid"
  }),
  createFingerprint: () => ({ language: "l", language_version: "v", system: "s" }),
  createAgent: () => ({ agent_name: "grid" }),
  createAgentVersion: () => ({ agent_version_name: "grid" }),
  createPerson: () => ({ person_id: "grid" }),
  updatePerson: () => ({ properties: {} }),
  otlpTraces: () => ({ resourceSpans: [] }),
  otlpLogs: () => ({ resourceLogs: [] }),
  otlpMetrics: () => ({})
}

/** Queries without which an endpoint refuses a request, or does not end. */
const queries: Readonly<Record<string, string>> = { search: "?q=x", searchSessions: "?q=x", streamEvents: "?wait=0" }

it("answers every endpoint and every kind of key as documented", async () => {
  const runtime = ManagedRuntime.make(ApiKeys.layer().pipe(Layer.provideMerge(MemoryStorage.layer)))
  const keys = await runtime.runPromise(ApiKeys)
  const storage = await runtime.runPromise(Storage)
  const issue = async (scopes: ReadonlyArray<Scope>, project = "default", expiresIn?: number) => {
    const expiresAt = expiresIn === undefined ? null : DateTime.makeUnsafe(Date.now() + expiresIn)
    const wanted = { project: ProjectId.make(project), name: "grid", scopes, expiresAt }
    const [secret, { id }] = await runtime.runPromise(keys.issue(wanted))
    return { id, key: Redacted.value(secret) }
  }
  const tachograph = await createTachograph({ storage: Layer.succeed(Storage, storage) })
  const as = (key: string | undefined) => HttpClient.make(tachograph.fetch, key)

  const admin = as((await issue(["admin"])).key)
  const { body: fingerprint } = await admin.put("/api/v1/fingerprints", bodies["createFingerprint"]!(""))
  await admin.put("/api/v1/agents", { agent_name: "grid" })
  await admin.put("/api/v1/agents/grid/agent-versions", { agent_version_name: "grid" })
  await admin.put("/api/v1/people", { person_id: "grid", properties: { of: "default" } })
  const { body: event } = await admin.post("/api/v1/events", bodies["createEvent"]!(fingerprint.fingerprint_id))

  const revoked = await issue(["admin"])
  await Effect.runPromise(keys.revoke(revoked.id))
  const columns: ReadonlyArray<readonly [name: string, key: string | undefined]> = [
    ["none", undefined],
    ["wrong", `tg_${"0".repeat(33)}`],
    ["revoked", revoked.key],
    ["expired", (await issue(["admin"], "default", -1)).key],
    ["`record`", (await issue(["record"])).key],
    ["`read`", (await issue(["read"])).key],
    ["`admin`", (await issue(["admin"])).key],
    // Each endpoint gets its own project, so that it does not find what another created.
    ["another project's `admin`", ""]
  ]
  const foreignColumn = columns.length - 1

  const rows: Array<string> = [
    `| | ${columns.map(([name]) => name).join(" | ")} |`,
    `| --- |${" --- |".repeat(columns.length)}`
  ]
  const endpoints: Array<readonly [method: string, path: string, id: string]> = []
  HttpApi.reflect(TachographApi, {
    onGroup: () => {},
    onEndpoint: ({ endpoint, group }) => {
      if (!["system", "signIn"].includes(group.identifier))
        endpoints.push([endpoint.method, endpoint.path, endpoint.identifier])
    }
  })
  for (const [id, path] of Object.entries(otlpPaths)) endpoints.push(["POST", path, id])
  // Creates something of its own for each key to erase.
  const erased = new Map<string, (name: string) => Promise<unknown>>([
    ["erasePerson", (name) => admin.put("/api/v1/people", { person_id: name })],
    [
      "eraseSession",
      (name) => admin.post("/api/v1/events", { ...bodies["createEvent"]!(fingerprint.fingerprint_id), session: name })
    ],
    [
      "eraseEvent",
      async (name) => {
        const sent = { ...bodies["createEvent"]!(fingerprint.fingerprint_id), session: name }
        return (await admin.post("/api/v1/events", sent)).body.event_id
      }
    ]
  ])
  for (const [method, path, id] of endpoints) {
    const url = path
      .replace(":event_id", event.event_id)
      .replace(":fingerprint_id", fingerprint.fingerprint_id)
      .replace(":sha256", createHash("sha256").update(JSON.stringify(system)).digest("hex"))
      .replaceAll(/:\w+/g, "grid")
      .concat(queries[id] ?? "")
    const answers: Array<string> = []
    const foreign = (await issue(["admin"], `other ${id}`)).key
    for (const [index, [, key]] of columns.entries()) {
      const own = `grid ${id} ${index}`
      const made = await erased.get(id)?.(own)
      const named = typeof made === "string" ? made : own
      const answer = await as(index === foreignColumn ? foreign : key).call(
        method,
        erased.has(id) ? path.replaceAll(/:\w+/g, encodeURIComponent(named)) : url,
        bodies[id]?.(fingerprint.fingerprint_id)
      )
      answers.push([answer.status, answer.status !== 200 && answer.body?.type].filter(Boolean).join(" "))
    }
    rows.push(`| ${method} ${path.replaceAll(/:(\w+)/g, "{$1}")} | ${answers.join(" | ")} |`)
  }

  // Four keys may record, three of them in this project. The other keys changed nothing.
  expect((await admin.get("/api/v1/people/grid")).body.properties).toEqual({})
  expect((await admin.get("/api/v1/events?session=grid")).body.events).toHaveLength(3)

  const documented = readFileSync(new URL("../../../../docs/keys.md", import.meta.url), "utf8")
  const [, access = ""] = documented.split("\n## Access\n")
  expect(
    access
      .split("\n## ", 1)[0]!
      .split("\n")
      .filter((line) => line.startsWith("|"))
      .join("\n")
  ).toBe(rows.join("\n"))
  await tachograph.close()
  await runtime.dispose()
})
