import { HttpClient } from "@tachograph/testkit"
import { describe, expect, it } from "vitest"
import { apiKey, opened } from "./Samples.ts"
import { exchange, served } from "./Served.ts"

describe("basePath", () => {
  it.each([
    "tachograph",
    "/a b",
    "/a%2Fb",
    "/a?b",
    "/a#b",
    "//",
    "/a//b",
    "http://localhost/a",
    "/ä",
    "/..",
    "/.",
    "/a/../b"
  ])("rejects %j", async (basePath) => {
    await expect(opened({ basePath })).rejects.toThrow("basePath: expected a path such as /tachograph")
  })

  it.each(["", "/"])("mounts at the root for %j", async (basePath) => {
    const { fetch } = await opened({ basePath })
    expect((await HttpClient.make(fetch, undefined).get("/health")).status).toBe(200)
  })

  it("answers below it, and returns 404 elsewhere", async () => {
    const tachograph = await opened({ basePath: "/in/here/" })
    const client = HttpClient.make(tachograph.fetch, apiKey)
    const status = async (path: string) => (await client.get(path)).status
    expect(await status("/in/here/health")).toBe(200)
    expect(await status("/in/here/api/v1/events?session=s")).toBe(200)
    for (const path of ["/health", "/in/here", "/in/here/", "/in/herehealth", "/in/here//health", "/IN/here/health"]) {
      expect([path, await status(path)]).toEqual([path, 404])
    }
    const wrong = await client.call("DELETE", "/in/here/health")
    expect([wrong.status, wrong.headers.get("allow")]).toEqual([405, "GET, HEAD, OPTIONS"])
  })

  it("is the server's URL in /openapi.json and /docs", async () => {
    const client = HttpClient.make((await opened({ basePath: "/in/here" })).fetch, undefined)
    expect((await client.get("/in/here/openapi.json")).body.servers).toEqual([{ url: "/in/here" }])
    expect((await client.get("/in/here/docs")).text).toContain('"servers":[{"url":"/in/here"}]')
    expect((await client.get("/in/here/docs")).text).toContain("[the documentation](viewer/#/docs)")
  })

  it("is where the viewer is", async () => {
    const client = HttpClient.make((await opened({ basePath: "/in/here" })).fetch, undefined)
    expect((await client.get("/in/here/viewer/")).status).toBe(200)
    const { headers, status } = await client.get("/in/here/viewer")
    expect([status, headers.get("location")]).toEqual([308, "viewer/"])
  })

  it.each(["", "/in/here"])("accepts a target in absolute form, with base path %j", async (basePath) => {
    const tachograph = await opened({ basePath })
    const fetch = await served((request, response) => tachograph.node(request, response, () => response.end()))
    const answer = await exchange(
      fetch.port,
      `GET http://localhost${basePath}/health HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n\r\n`
    )
    expect(answer).toMatch(/^HTTP\/1\.1 200 [^]*\{"status":"ok","version":"[^"]+"\}$/)
  })

  it("passes requests elsewhere to the host, with their bodies unread", async () => {
    const tachograph = await opened({ basePath: "/in/here" })
    const fetch = await served((request, response) =>
      tachograph.node(request, response, () => void request.pipe(response.writeHead(201)))
    )
    const client = HttpClient.make(fetch, undefined)
    for (const path of ["/api/v1/events", "/health", "/in/here/nothing", "/in/here"]) {
      const answer = await client.post(path, "the host's")
      expect([path, answer.status, answer.text]).toEqual([path, 201, "the host's"])
      expect(answer.headers.get("x-request-id")).toBeNull()
    }
    expect((await client.get("/in/here/health")).status).toBe(200)
  })
})
