/** Paths that match only to the letter, and `Routes.layer` in a host's `HttpRouter`. */
import * as NodeHttpServer from "@effect/platform-node/NodeHttpServer"
import { ApiKeys, MemoryStorage, Recorder } from "@tachograph/core"
import { HttpClient } from "@tachograph/testkit"
import { Effect, Layer, ManagedRuntime, Redacted } from "effect"
import { HttpRouter, HttpServerResponse } from "effect/http"
import { createServer } from "node:http"
import { describe, expect, it, onTestFinished } from "vitest"
import { BasePath, Front, Routes } from "../src/index.ts"
import { apiKey, opened } from "./Samples.ts"
import { exchange, served } from "./Served.ts"

const variants = ["/api/v1/%65vents", "/api/v1/events;x", "/api/v1/events#x", "/%68ealth", "/health;x"]

const get = (port: number, path: string, ...headers: ReadonlyArray<string>) =>
  exchange(port, [`GET ${path} HTTP/1.1`, "host: localhost", "connection: close", ...headers, "", ""].join("\r\n"))

describe("A variant of a path", () => {
  const key = `authorization: Bearer ${apiKey}`

  it.each(variants)("is answered as an unknown path: %s", async (path) => {
    const { port } = await served((await opened()).node)
    expect(await get(port, path, key)).toMatch(/^HTTP\/1\.1 404 [^]*x-request-id/)
    expect(await get(port, path, key, key)).toMatch(/^HTTP\/1\.1 401 /)
  })

  it("does not bypass a rule that checks paths", async () => {
    const tachograph = await opened({
      authorize: ({ url }) => (url.startsWith("/api/v1/people") ? null : { project: "p", scopes: ["admin"] })
    })
    const client = HttpClient.make(tachograph.fetch, undefined)
    const statuses = ["/api/v1/people", "/api/v1/%70eople", "/api/v1/./people"].map(
      async (path) => (await client.put(path, { person_id: "x" })).status
    )
    expect(await Promise.all(statuses)).toEqual([401, 404, 401])
  })
})

describe("Routes.layer in a host's router", () => {
  /** The router with its defaults: it ignores case and extra slashes. */
  const application = async () => {
    const own = Layer.merge(
      HttpRouter.add("GET", "/health", HttpServerResponse.text("the host's")),
      HttpRouter.add("GET", "/broken", Effect.die("the host's"))
    )
    const runtime = ManagedRuntime.make(
      HttpRouter.serve(Layer.merge(own, Routes.layer), { disableLogger: true, disableListenLog: true }).pipe(
        Layer.provide(Front.layer),
        Layer.provide(Layer.succeed(BasePath, "/tachograph")),
        Layer.provide([Recorder.layer, ApiKeys.layer({ staticKeys: [Redacted.make(apiKey)] })]),
        Layer.provide(MemoryStorage.layer),
        Layer.provide(NodeHttpServer.layer(() => server, { host: "127.0.0.1", port: 0 }))
      )
    )
    const server = createServer()
    onTestFinished(() => runtime.dispose())
    await runtime.runPromise(Effect.void)
    const { port } = server.address() as { port: number }
    return HttpClient.make(HttpClient.at(`http://127.0.0.1:${port}`), apiKey)
  }

  it("does not change the host's own routes", async () => {
    const client = await application()
    const health = await client.get("/health")
    expect([health.status, health.text, health.headers.get("x-request-id")]).toEqual([200, "the host's", null])
    const broken = await client.get("/broken")
    expect([broken.status, broken.text, broken.headers.get("x-request-id")]).toEqual([500, "", null])
  })

  it("matches its own paths to the letter", async () => {
    const client = await application()
    expect((await client.get("/tachograph/health")).body).toMatchObject({ status: "ok" })
    for (const path of ["/tachograph/HEALTH", "/tachograph/health/", "/tachograph//health", "/tachograph/%68ealth"]) {
      const { headers, status } = await client.get(path)
      expect([path, status, headers.get("x-request-id")]).toEqual([path, 404, expect.any(String)])
    }
  })
})
