/** Paths, methods and what stands beside the interface. */
import { describe, expect, it } from "vitest"
import { expectError } from "./Requests.ts"
import type { Subject } from "./Subject.ts"

export const define = (subject: () => Subject) => {
  describe("Paths and methods", () => {
    it.each([
      "/",
      "/api/v1",
      "/api/v1/nothing",
      "/API/v1/agents/x",
      "/api/v1/Agents/x",
      "/api/v1/agents/x/",
      "/api/v1//agents/x",
      "/health/",
      "/api/v1/api/v1/events"
    ])("answers 404 not-found to %s", async (path) => {
      expectError(await subject().client.get(path), 404, "not-found")
    })

    it.each([
      ["DELETE", "/api/v1/agents", "PUT"],
      ["PUT", "/api/v1/events", "GET, HEAD, POST"],
      ["POST", "/api/v1/agents/x", "GET, HEAD"],
      ["POST", "/api/v1/people/x", "GET, HEAD, PUT"],
      ["POST", "/health", "GET, HEAD"]
    ])("answers 405 method-not-allowed to %s %s, and says what is: %s", async (method, path, allow) => {
      const answer = await subject().client.call(method, path)
      expectError(answer, 405, "method-not-allowed")
      expect(answer.headers.get("allow")).toBe(allow)
    })

    it("answers health, readiness and metrics without a key", async () => {
      const anybody = subject().as(undefined)
      expect((await anybody.get("/health")).body).toEqual({ status: "ok" })
      expect((await anybody.get("/ready")).body).toEqual({ status: "ok" })
      const metrics = await anybody.get("/metrics")
      expect(metrics.headers.get("content-type")).toMatch(/^text\/plain/)
      expect(metrics.text).toMatch(/^# TYPE tachograph_http_requests_total counter$/m)
    })

    it("serves its description, version 0.1.0, and the documentation", async () => {
      const anybody = subject().as(undefined)
      const { body } = await anybody.get("/openapi.json")
      expect(body.info.version).toBe("0.1.0")
      expect(Object.keys(body.paths)).toEqual(expect.arrayContaining(["/api/v1/events", "/api/v1/people/{person_id}"]))
      const docs = await anybody.get("/docs")
      expect(docs.headers.get("content-type")).toMatch(/^text\/html/)
      expect(docs.text).toContain("Tachograph")
    })

    it("gives every answer a request id of its own", async () => {
      const anybody = subject().as(undefined)
      const ids = await Promise.all(["/health", "/health", "/nothing"].map((path) => anybody.get(path)))
      expect(new Set(ids.map(({ headers }) => headers.get("x-request-id"))).size).toBe(3)
    })
  })
}
