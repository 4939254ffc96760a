import { MemoryStorage } from "@tachograph/core"
import { HttpClient } from "@tachograph/testkit"
import { Layer, Logger } from "effect"
import type { IncomingMessage } from "node:http"
import { describe, expect, it, onTestFinished } from "vitest"
import { AuthorizeTimeoutMs } from "../../src/front/Authorizer.ts"
import { type Authorize, type AuthorizeRequest, createTachograph } from "../../src/index.ts"
import { apiKey, event, fingerprint, opened } from "../Samples.ts"
import { served } from "../Served.ts"

const cookies: Authorize = ({ headers }) => {
  const [, project, scope] = /^session=(\w+)\.(\w+)$/.exec(headers["cookie"] ?? "") ?? []
  return project === undefined ? null : { project, scopes: [scope as "record"] }
}

describe("authorize", () => {
  it("decides by the rule of the host, and ignores API keys", async () => {
    const tachograph = await opened({ authorize: cookies })
    const call = (cookie: string, method: string, path: string, body?: unknown) =>
      HttpClient.make(tachograph.fetch, apiKey).call(method, `/api/v1${path}`, body, { cookie })
    const { body } = await call("session=acme.record", "PUT", "/fingerprints", fingerprint)
    const recorded = await call("session=acme.record", "POST", "/events", event(body.fingerprint_id))
    expect(recorded.status).toBe(200)
    const path = `/events/${recorded.body.event_id}`
    const statuses = await Promise.all(
      ["session=acme.read", "session=acme.record", "session=other.read", "session=", ""].map(
        async (cookie) => (await call(cookie, "GET", path)).status
      )
    )
    expect(statuses).toEqual([200, 403, 404, 401, 401])
    expect((await call("session=acme.read", "POST", "/events", event(body.fingerprint_id))).status).toBe(403)
    const read = await tachograph.api.getEvent({ event_id: recorded.body.event_id }, { project: "acme" })
    expect(read.session).toBe("in process")
  })

  it("grants nothing to pages of other origins, whose requests carry the host's cookies", async () => {
    const tachograph = await opened({ authorize: cookies })
    const overHttp = await served((request, response) => tachograph.node(request, response))
    const own = `http://127.0.0.1:${overHttp.port}`
    const statusOf = async (headers: Record<string, string>) => {
      const { status } = await HttpClient.open(own, undefined).call("GET", "/api/v1/me", undefined, {
        cookie: "session=acme.read",
        ...headers
      })
      return status
    }
    for (const site of ["same-origin", "none"]) {
      expect(await statusOf({ "sec-fetch-site": site, origin: "https://behind.a.proxy" })).toBe(200)
    }
    for (const site of ["cross-site", "same-site"]) expect(await statusOf({ "sec-fetch-site": site })).toBe(401)
    // Older browsers send `Origin` alone.
    expect(await statusOf({})).toBe(200)
    expect(await statusOf({ origin: own })).toBe(200)
    for (const origin of ["https://elsewhere.example", "null"]) expect(await statusOf({ origin })).toBe(401)
    expect(await statusOf({ "sec-fetch-site": "cross-site", authorization: "Bearer of the host" })).toBe(200)

    const viaFetch = async (origin: string) => {
      const headers = { cookie: "session=acme.read", origin }
      return (await tachograph.fetch(new Request("http://host.example/api/v1/me", { headers }))).status
    }
    expect(await viaFetch("http://host.example")).toBe(200)
    expect(await viaFetch("http://elsewhere.example")).toBe(401)
  })

  it("receives the path below the base path, lower-case headers, and the framework's request", async () => {
    const seen: Array<AuthorizeRequest> = []
    const tachograph = await opened({
      basePath: "/tachograph",
      authorize: (request) => {
        seen.push(request)
        const { user } = request.source as IncomingMessage & { user?: string }
        return user === undefined ? undefined : { project: user, scopes: ["admin"] }
      }
    })
    const fetch = await served((request, response) => tachograph.node(Object.assign(request, { user: "u" }), response))
    const path = "/tachograph/api/v1/events?session=s"
    const answer = await HttpClient.make(fetch, undefined).call("GET", path, undefined, { "X-Own": "1" })
    expect([answer.status, answer.body.events]).toEqual([200, []])
    expect(seen.map(({ headers, method, url }) => [method, url, headers["x-own"]])).toEqual([
      ["GET", "/api/v1/events?session=s", "1"]
    ])
    const request = new Request(`http://localhost${path}`)
    expect((await tachograph.fetch(request)).status).toBe(401)
    expect(seen[1]?.source).toBe(request)
  })

  it("is called once for every request, whatever its answer", async () => {
    let times = 0
    const tachograph = await opened({ authorize: ({ headers }) => (times++, cookies({ headers } as AuthorizeRequest)) })
    const fetch = await served(tachograph.node)
    for (const send of [fetch, tachograph.fetch]) {
      const expectedStatuses = [
        ["", 401],
        ["session=acme.read", 403],
        ["session=acme.record", 422]
      ] as const
      for (const [cookie, expected] of expectedStatuses) {
        times = 0
        const { status } = await HttpClient.make(send, undefined).call("POST", "/api/v1/events", {}, { cookie })
        expect([cookie, status, times]).toEqual([cookie, expected, 1])
      }
      times = 0
      const headers = { cookie: "session=acme.record", "idempotency-key": "x".repeat(256) }
      const { status } = await HttpClient.make(send, undefined).call("POST", "/api/v1/events", event("none"), headers)
      expect([status, times]).toEqual([422, 1])
    }
  })

  it("is not called for paths that need no key", async () => {
    const tachograph = await opened({ authorize: () => Promise.reject(new Error("called")) })
    const statuses = ["/health", "/ready", "/metrics", "/docs", "/openapi.json", "/nothing"].map(
      async (path) => (await HttpClient.make(tachograph.fetch, undefined).get(path)).status
    )
    expect(await Promise.all(statuses)).toEqual([200, 200, 200, 200, 200, 404])
  })

  it.each([null, undefined, false, 0, "", Number.NaN])("answers 401 if the rule returns %j", async (nothing) => {
    for (const authorize of [() => nothing, async () => nothing] as ReadonlyArray<unknown>) {
      const client = HttpClient.make((await opened({ authorize: authorize as Authorize })).fetch, undefined)
      const answer = await client.get("/api/v1/events")
      expect([answer.status, answer.body, answer.headers.get("www-authenticate")]).toEqual([
        401,
        { type: "unauthorized" },
        "Bearer"
      ])
    }
  })

  it("answers 503 if the rule does not answer, and leaves no timer of one that does", async () => {
    const lines: Array<unknown> = []
    const storage = Layer.mergeAll(
      MemoryStorage.layer,
      Layer.succeed(AuthorizeTimeoutMs, 20),
      Logger.layer([Logger.make(({ message }) => lines.push(message))])
    )
    const authorize: Authorize = ({ headers }) =>
      headers["x-prompt"] === undefined ? new Promise(() => {}) : { project: "p", scopes: ["read"] }
    const tachograph = await createTachograph({ storage, authorize })
    onTestFinished(() => tachograph.close())
    const client = HttpClient.make(tachograph.fetch, undefined)
    for (const [method, body] of [["GET"], ["POST", {}]] as const) {
      const answer = await client.call(method, "/api/v1/events", body)
      expect([answer.status, answer.body]).toEqual([503, { type: "authorization-unavailable" }])
      expect(answer.headers.get("retry-after")).toMatch(/^[123]$/)
    }
    expect(lines.flat()).toEqual(Array(2).fill("authorize did not answer within 20 ms"))
    const timers = () => process.getActiveResourcesInfo().filter((name) => name === "Timeout").length
    const before = timers()
    for (let n = 0; n < 10; n++) {
      expect((await client.call("GET", "/api/v1/events", undefined, { "x-prompt": "1" })).status).toBe(200)
    }
    expect(timers()).toBeLessThanOrEqual(before)
  })

  it.each([
    ["throws", () => expect.fail("secret")],
    ["rejects", () => Promise.reject(new Error("secret"))],
    ["returns an empty project", () => ({ project: "", scopes: ["read"] })],
    ["returns an unknown scope", () => ({ project: "p", scopes: ["write"] })],
    ["returns no grant", () => "yes"],
    ["returns true", () => true]
  ] as ReadonlyArray<[string, Authorize]>)("answers 500 and grants nothing if the rule %s", async (_, authorize) => {
    const tachograph = await opened({ authorize })
    const client = HttpClient.make(tachograph.fetch, undefined)
    for (const answer of [await client.get("/api/v1/events"), await client.post("/api/v1/events", {})]) {
      expect([answer.status, answer.body.type]).toEqual([500, "internal"])
      expect(answer.text).not.toContain("secret")
    }
  })
})
