/** Keys, scopes and projects. */
import { type Scope, scopes } from "@tachograph/core/domain/ApiKey"
import { expect } from "vitest"
import type { Client } from "../HttpClient.ts"
import type { Cases } from "./Cases.ts"
import { event, expectError } from "./Requests.ts"

/** Every endpoint that requires a key, with the scopes that allow it besides `admin`. */
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
  ["GET", "/api/v1/search?q=x", ["read"]],
  ["GET", "/api/v1/storage", ["read"]],
  ["GET", "/api/v1/audit", []],
  ["GET", "/api/v1/export", ["read"]],
  ["POST", "/api/v1/import", []],
  ["GET", "/api/v1/me", scopes],
  ["GET", "/api/v1/agents", ["read"]],
  ["GET", "/api/v1/agents/x/agent-versions", ["read"]],
  ["POST", "/api/v1/agents/x/agent-versions/x/deprecate", ["record"]],
  ["GET", "/api/v1/people", ["read"]],
  ["GET", "/api/v1/fingerprints", ["read"]],
  ["GET", "/api/v1/fingerprints/01900000-0000-7000-8000-000000000000", ["read"]],
  ["GET", "/api/v1/events", ["read"]],
  ["GET", "/api/v1/events/stream?wait=0", ["read"]],
  ["GET", "/api/v1/events/01900000-0000-7000-8000-000000000000", ["read"]],
  ["GET", "/api/v1/events/01900000-0000-7000-8000-000000000000/messages", ["read"]],
  ["GET", `/api/v1/shared/${"0".repeat(64)}`, ["read"]],
  ["GET", "/api/v1/sessions", ["read"]],
  ["GET", "/api/v1/sessions/x", ["read"]],
  ["GET", "/api/v1/usage", ["read"]],
  ["GET", "/api/v1/agents/x/agent-versions/x/configurations", ["read"]],
  ["GET", "/api/v1/sessions/x/messages", ["read"]],
  ["GET", "/api/v1/sessions/x/calls", ["read"]]
]

/** One that takes a body, and one that takes none: an adapter hands the headers on, whatever the method. */
const [withBody, withoutBody] = [endpoints[0]!, endpoints.find(([method]) => method === "GET")!]

const callAs = (client: Client, method: string, path: string) =>
  client.call(method, path, method === "GET" ? undefined : {})

/** Within this time, a key that another process has revoked must be refused, in milliseconds. */
const revocationDeadline = 10_000

export const define = ({ describe, fixture, it }: Cases) => {
  const refuses = async (wrong: string | undefined, method: string, path: string) => {
    const answer = await callAs(fixture().as(wrong), method, path)
    expectError(answer, 401, "unauthorized")
    expect(answer.headers.get("www-authenticate")).toBe("Bearer")
  }
  const unknown = `tg_${"0".repeat(33)}`
  const refusesInvalidKeys = async (method: string, path: string) => {
    const { as, issue, revoke } = fixture()
    const { key } = await issue({ scopes: ["admin"] })
    const expired = await issue({ scopes: ["admin"], expiresIn: -1 })
    const revoked = await issue({ scopes: ["admin"] })
    await revoke(revoked.id)
    const typo = key.slice(0, -1) + (key.endsWith("0") ? "1" : "0")
    for (const wrong of [undefined, "x", typo, unknown, `${key}x`, expired.key, revoked.key, `${key} ${key}`]) {
      await refuses(wrong, method, path)
    }
    for (const authorization of [key, `Basic ${key}`, "Bearer", "Bearer ", `Bearer\t${key}`, ""]) {
      const answer = await as(undefined).call(method, path, undefined, { authorization })
      expectError(answer, 401, "unauthorized")
    }
  }
  const invalidKeyTitle = "%s %s returns the same 401 for every invalid key"

  describe("Keys", () => {
    it.each([withBody, withoutBody], { tags: ["adapter"] })(invalidKeyTitle, refusesInvalidKeys)
    // What makes a key invalid is the same for each endpoint.
    it.each(endpoints.filter((endpoint) => endpoint !== withBody && endpoint !== withoutBody))(
      "%s %s returns 401 without a key, and for an unknown one",
      async (method, path) => {
        for (const wrong of [undefined, unknown]) await refuses(wrong, method, path)
      }
    )

    it.each(endpoints)("%s %s allows the scopes %j and admin", async (method, path, allowed) => {
      const { as, issue } = fixture()
      for (const scope of scopes) {
        // A key of an empty project, so that an export does not take all that the other cases have recorded.
        const { key } = await issue({ scopes: [scope], project: "scopes" })
        const answer = await callAs(as(key), method, path)
        if (scope === "admin" || allowed.includes(scope)) expect([401, 403]).not.toContain(answer.status)
        else expectError(answer, 403, "forbidden")
      }
    })

    it("says without a key that a key is needed, and nothing else", { tags: ["adapter", "path"] }, async () => {
      const { body, status } = await fixture().as(undefined).get("/api/v1/sign-in")
      expect([status, body]).toEqual([200, { by: "key", login: null, logout: null }])
    })

    it("checks the key before the body", { tags: ["adapter", "path"] }, async () => {
      const answer = await fixture().as("unknown").post("/api/v1/events", "not even JSON")
      expectError(answer, 401, "unauthorized")
    })

    it("refuses a key that another process has revoked", { timeout: 15_000 }, async () => {
      const { as, issue, revoke } = fixture()
      const { id, key } = await issue({ scopes: ["admin"] })
      const read = async () => (await as(key).get("/api/v1/events")).status
      expect(await read()).toBe(200)
      // The suite revokes it in its own key service; the server under test has cached it.
      await revoke(id)
      await expect.poll(read, { timeout: revocationDeadline, interval: 50 }).toBe(401)
    })

    it("tells a key its project and its scopes, and what the server is", async () => {
      const { as, issue } = fixture()
      for (const held of [["read"], ["record", "read"], ["admin"]] as const) {
        const { id, key } = await issue({ scopes: held, project: "é/ü" })
        const { body, status } = await as(key).get("/api/v1/me?unknown=1")
        expect([status, body]).toEqual([
          200,
          {
            project: "é/ü",
            actor: id,
            scopes: held,
            version: expect.stringMatching(/^\d+\.\d+\.\d+/),
            retention_ms: null,
            prices: "2026-09-23",
            rules: "6, prices 2026-09-23",
            proxy_upstreams: null,
            events_by_rules: held.some((scope) => scope !== "record") ? [] : null
          }
        ])
      }
    })

    it("separates projects", async () => {
      const { as, client, fingerprintId, issue } = fixture()
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
