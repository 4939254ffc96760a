/** Paths, methods, and the endpoints without a key. */
import { expect } from "vitest"
import type { Cases } from "./Cases.ts"
import { expectError } from "./Requests.ts"

export const define = ({ describe, fixture, it }: Cases) => {
  describe("Paths and methods", () => {
    it.each(
      [
        "/",
        "/api/v1",
        "/api/v1/nothing",
        "/API/v1/agents/x",
        "/api/v1/Agents/x",
        "/api/v1/agents/x/",
        "/api/v1//agents/x",
        "/health/",
        "/api/v1/api/v1/events"
      ],
      { tags: ["adapter", "path"] }
    )("does not handle %s", async (path) => {
      const { client, expectUnhandled } = fixture()
      expectUnhandled(await client.get(path))
    })

    it.each(
      [
        ["DELETE", "/api/v1/agents", "GET, HEAD, OPTIONS, PUT"],
        ["PUT", "/api/v1/events", "GET, HEAD, OPTIONS, POST"],
        ["POST", "/api/v1/agents/x", "GET, HEAD, OPTIONS"],
        ["POST", "/api/v1/people/x", "DELETE, GET, HEAD, OPTIONS, PUT"],
        ["POST", "/api/v1/sessions/x", "DELETE, GET, HEAD, OPTIONS"],
        ["GET", "/api/v1/agents/x/agent-versions/x/deprecate", "OPTIONS, POST"],
        ["DELETE", "/api/v1/storage", "GET, HEAD, OPTIONS"],
        ["POST", "/health", "GET, HEAD, OPTIONS"]
      ],
      { tags: ["adapter", "path"] }
    )("returns 405 method-not-allowed for %s %s, and allows %s", async (method, path, allow) => {
      const answer = await fixture().client.call(method, path)
      expectError(answer, 405, "method-not-allowed")
      expect(answer.headers.get("allow")).toBe(allow)
    })

    it("does not treat a semicolon in a path specially", { tags: ["adapter", "path"] }, async () => {
      const { client } = fixture()
      await client.put("/api/v1/agents", { agent_name: "semi;colon=1" })
      expect((await client.get("/api/v1/agents/semi;colon=1")).body.agent_name).toBe("semi;colon=1")
      expectError(await client.get("/api/v1/agents/semi"), 404, "agent-not-found")
    })

    it(
      "returns the allowed methods for OPTIONS, and the headers of GET for HEAD",
      { tags: ["adapter", "path"] },
      async () => {
        const { client, expectUnhandled } = fixture()
        const options = await client.call("OPTIONS", "/api/v1/events")
        expect([options.status, options.headers.get("allow"), options.text]).toEqual([
          204,
          "GET, HEAD, OPTIONS, POST",
          ""
        ])
        expectUnhandled(await client.call("OPTIONS", "/nothing"))
        const get = await client.get("/api/v1/events?session=none")
        const head = await client.call("HEAD", "/api/v1/events?session=none")
        expect([head.status, head.text]).toEqual([200, ""])
        for (const name of ["content-type", "content-length", "cache-control"]) {
          expect(head.headers.get(name)).toBe(get.headers.get(name))
        }
        expect((await client.call("HEAD", "/api/v1/agents/x/agent-versions/x/deprecate")).status).toBe(405)
      }
    )

    it("sends security and cache headers, and the charset of texts", { tags: ["adapter", "path"] }, async () => {
      const { client } = fixture()
      const data = await client.get("/api/v1/events?session=none")
      expect(data.headers.get("x-content-type-options")).toBe("nosniff")
      expect(data.headers.get("cache-control")).toBe("no-store")
      expect(data.headers.get("access-control-allow-origin")).toBeNull()
      expect((await client.get("/metrics")).headers.get("content-type")).toMatch(/charset=utf-8$/)
    })

    it("serves health, readiness and metrics without a key", { tags: ["adapter", "path"] }, async () => {
      const client = fixture().as(undefined)
      expect((await client.get("/health")).body).toEqual({
        status: "ok",
        version: expect.stringMatching(/^\d+\.\d+\.\d+/)
      })
      expect((await client.get("/ready")).body).toEqual({ status: "ok" })
      const metrics = await client.get("/metrics")
      expect(metrics.headers.get("content-type")).toMatch(/^text\/plain/)
      expect(metrics.text).toMatch(/^# TYPE tachograph_http_requests_total counter$/m)
    })

    it("serves the OpenAPI description and the documentation without a key", async () => {
      const client = fixture().as(undefined)
      const { body } = await client.get("/openapi.json")
      expect(body.info.version).toBe("0.1.0")
      expect(Object.keys(body.paths)).toEqual(expect.arrayContaining(["/api/v1/events", "/api/v1/people/{person_id}"]))
      const docs = await client.get("/docs")
      expect(docs.headers.get("content-type")).toBe("text/html; charset=utf-8")
      expect(docs.text).toContain("Tachograph")
    })

    it("serves the viewer without a key, and its files compressed", { tags: ["adapter", "path"] }, async () => {
      const client = fixture().as(undefined)
      const page = await client.get("/viewer/")
      expect(page.status).toBe(200)
      expect(page.headers.get("content-type")).toBe("text/html; charset=utf-8")
      expect(page.headers.get("content-security-policy")).toContain("require-trusted-types-for 'script'")
      expect(page.headers.get("cache-control")).toBe("no-cache")
      const files = Array.from(page.text.matchAll(/(?:src|href)="\.\/(assets\/[^"]+)"/g), ([, path]) => path!)
      expect(files.length).toBeGreaterThan(0)
      for (const path of files) {
        const file = await client.get(`/viewer/${path}`)
        expect(file.status).toBe(200)
        expect(file.headers.get("cache-control")).toBe("public, max-age=31536000, immutable")
        expect(file.headers.get("vary")).toBe("Accept-Encoding")
      }
      const etag = page.headers.get("etag")!
      const again = await client.call("GET", "/viewer/", undefined, { "if-none-match": `"other", ${etag}` })
      expect([again.status, again.text, again.headers.get("etag")]).toEqual([304, "", etag])
      expect((await client.get("/viewer/assets/index.html")).status).toBe(404)
      expect((await client.call("POST", "/viewer/")).status).toBe(405)
    })

    it("sends a different request id with each response", { tags: ["adapter", "path"] }, async () => {
      const client = fixture().as(undefined)
      const ids = await Promise.all(["/health", "/health", "/api/v1/events"].map((path) => client.get(path)))
      expect(new Set(ids.map(({ headers }) => headers.get("x-request-id"))).size).toBe(3)
    })
  })
}
