/** Keys, scopes and projects. */
import { type Scope, scopes } from "@tachograph/core/domain/ApiKey"
import { beforeAll, describe, expect } from "vitest"
import type { Client } from "../HttpClient.ts"
import type { Cases } from "./Cases.ts"
import { event, expectError } from "./Requests.ts"

/** Every endpoint that takes a key, with the scopes that open it besides `admin`. */
const endpoints: ReadonlyArray<readonly [method: string, path: string, scopes: ReadonlyArray<Scope>]> = [
  ["POST", "/api/v1/events", ["record"]],
  ["PUT", "/api/v1/fingerprints", ["record"]],
  ["PUT", "/api/v1/agents", ["record"]],
  ["GET", "/api/v1/agents/x", ["record", "read"]],
  ["PUT", "/api/v1/agents/x/agent-versions", ["record"]],
  ["GET", "/api/v1/agents/x/agent-versions/x", ["record", "read"]],
  ["PUT", "/api/v1/people", ["record"]],
  ["PUT", "/api/v1/people/x", ["record"]],
  ["GET", "/api/v1/people/x", ["record", "read"]],
  ["DELETE", "/api/v1/people/x", []],
  ["DELETE", "/api/v1/sessions/x", []],
  ["GET", "/api/v1/storage", ["read"]],
  ["GET", "/api/v1/events", ["read"]],
  ["GET", "/api/v1/events/01900000-0000-7000-8000-000000000000", ["read"]]
]

const callAs = (client: Client, method: string, path: string) =>
  client.call(method, path, method === "GET" ? undefined : {})

/** How long processes may remember a key that was revoked in another one, in milliseconds. */
const rememberedFor = 10_000

export const define = ({ it, subject }: Cases) => {
  let revoked: { readonly client: Client; readonly at: number }

  // Before all other cases, which pass the time for which it is remembered.
  beforeAll(async () => {
    const { as, issue, revoke } = subject()
    const { id, key } = await issue({ scopes: ["admin"] })
    const client = as(key)
    expect((await client.get("/api/v1/events")).status).toBe(200)
    await revoke(id)
    revoked = { client, at: Date.now() }
  })

  describe("Keys", () => {
    it.each(endpoints)("%s %s refuses every key that is not valid with the same 401", async (method, path) => {
      const { as, issue, revoke } = subject()
      const { key } = await issue({ scopes: ["admin"] })
      const expired = await issue({ scopes: ["admin"], expiresIn: -1 })
      const revoked = await issue({ scopes: ["admin"] })
      await revoke(revoked.id)
      const typo = key.slice(0, -1) + (key.endsWith("0") ? "1" : "0")
      const unknown = `tg_${"0".repeat(33)}`
      for (const wrong of [undefined, "x", typo, unknown, `${key}x`, expired.key, revoked.key, `${key} ${key}`]) {
        const answer = await callAs(as(wrong), method, path)
        expectError(answer, 401, "unauthorized")
        expect(answer.headers.get("www-authenticate")).toBe("Bearer")
      }
      for (const authorization of [key, `Basic ${key}`, "Bearer", "Bearer ", `Bearer\t${key}`, ""]) {
        const answer = await as(undefined).call(method, path, undefined, { authorization })
        expectError(answer, 401, "unauthorized")
      }
    })

    it.each(endpoints)("%s %s opens to %j, and to admin", async (method, path, allowed) => {
      const { as, issue } = subject()
      for (const scope of scopes) {
        const { key } = await issue({ scopes: [scope] })
        const answer = await callAs(as(key), method, path)
        if (scope === "admin" || allowed.includes(scope)) expect([401, 403]).not.toContain(answer.status)
        else expectError(answer, 403, "forbidden")
      }
    })

    it("checks the key before the body", async () => {
      const answer = await subject().as("nobody").post("/api/v1/events", "not even JSON")
      expectError(answer, 401, "unauthorized")
    })

    it("refuses a key once it is revoked", async () => {
      // In this process it was not revoked; see the storage's own tests for the one that revokes.
      const read = async () => (await revoked.client.get("/api/v1/events")).status
      while ((await read()) === 200 && Date.now() < revoked.at + rememberedFor) {
        await new Promise((done) => setTimeout(done, 250))
      }
      expect(await read()).toBe(401)
    }, 15_000)

    it("keeps projects apart", async () => {
      const { as, client, fingerprintId, issue } = subject()
      const other = as((await issue({ scopes: ["admin"], project: "elsewhere" })).key)
      const names = { agent: "apart", agent_version: "apart", person: "apart", session: "apart" }
      const { body } = await client.post("/api/v1/events", event(fingerprintId, names))
      expectError(await other.get(`/api/v1/events/${body.event_id}`), 404, "event-not-found")
      expectError(await other.get("/api/v1/agents/apart"), 404, "agent-not-found")
      expectError(await other.get("/api/v1/agents/apart/agent-versions/apart"), 404, "agent-not-found")
      expectError(await other.get("/api/v1/people/apart"), 404, "person-not-found")
      expectError(await other.put("/api/v1/people/apart", { properties: {} }), 404, "person-not-found")
      expectError(await other.post("/api/v1/events", event(fingerprintId, names)), 404, "fingerprint-not-found")
      expect((await other.get("/api/v1/events?session=apart")).body.events).toEqual([])
      const first = await other.put("/api/v1/agents", { agent_name: "apart" })
      expect(first.body.agent_number).toBe(1)
    })
  })
}
