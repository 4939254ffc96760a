/** The proxy over the mount for fetch handlers. */
import { randomBytes } from "node:crypto"
import { once } from "node:events"
import type { ServerResponse } from "node:http"
import { gzipSync } from "node:zlib"
import { describe, expect, it } from "vitest"
import { opened } from "../Samples.ts"
import { proxyTo, withKey } from "./Client.ts"
import { listen, upstream } from "./Upstream.ts"

const at = "http://tachograph.example/proxy/local"

describe("the proxy over fetch", () => {
  it("passes both ways what was sent", async () => {
    const packed = gzipSync("some text")
    const { received, url } = await upstream((response) => {
      response
        .writeHead(201, "Made", ["Content-Encoding", "gzip", "Set-Cookie", "a=1", "Set-Cookie", "b=2"])
        .end(packed)
    })
    const { tachograph } = await proxyTo(`${url}/v1`)
    const body = randomBytes(200_000)
    const headers = { ...withKey, authorization: "Bearer sk-provider" }
    const response = await tachograph.fetch(new Request(`${at}/x?y=z`, { method: "POST", headers, body }))
    expect([response.status, response.statusText, response.headers.getSetCookie()]).toEqual([
      201,
      "Made",
      ["a=1", "b=2"]
    ])
    expect(Buffer.from(await response.arrayBuffer()).equals(packed)).toBe(true)
    expect(received[0]).toMatchObject({ method: "POST", url: "/v1/x?y=z" })
    expect(received[0]!.body.equals(body)).toBe(true)
    const names = received[0]!.headers.map(([name]) => name.toLowerCase())
    expect(names).toEqual(["host", "authorization", "transfer-encoding", "connection"])
  })

  it("streams, and ends the request to the upstream when the response is cancelled", async () => {
    let arrived: (response: ServerResponse) => void
    const arriving = new Promise<ServerResponse>((resolve) => (arrived = resolve))
    const port = await listen((_message, response) => {
      response.write("some")
      arrived(response)
    })
    const { tachograph } = await proxyTo(`http://127.0.0.1:${port}`)
    const response = await tachograph.fetch(new Request(`${at}/x`, { headers: withKey }))
    const reader = response.body!.getReader()
    expect(Buffer.from((await reader.read()).value!).toString()).toBe("some")
    const closed = once(await arriving, "close")
    await reader.cancel()
    await closed
  })

  it("ends it when the request is aborted", async () => {
    let arrived: (response: ServerResponse) => void
    const arriving = new Promise<ServerResponse>((resolve) => (arrived = resolve))
    const port = await listen((_message, response) => arrived(response))
    const { tachograph } = await proxyTo(`http://127.0.0.1:${port}`)
    const aborter = new AbortController()
    const sent = tachograph.fetch(new Request(`${at}/x`, { headers: withKey, signal: aborter.signal }))
    const closed = once(await arriving, "close")
    aborter.abort()
    await Promise.all([closed, expect(sent).rejects.toThrow()])
  })

  it("breaks off where the upstream dies, and is 502 where it cannot be reached", async () => {
    const port = await listen((_message, response) => void response.write("half", () => response.destroy()))
    const { tachograph } = await proxyTo(`http://127.0.0.1:${port}`)
    const response = await tachograph.fetch(new Request(`${at}/x`, { headers: withKey }))
    await expect(response.text()).rejects.toThrow()
    const { tachograph: unreachable } = await proxyTo("http://127.0.0.1:1")
    const refused = await unreachable.fetch(new Request(`${at}/x`, { headers: withKey }))
    expect([refused.status, ((await refused.json()) as { type: string }).type]).toEqual([502, "upstream-unreachable"])
  })

  it("answers its refusals, and statuses without a body", async () => {
    const { url } = await upstream((response) => void response.writeHead(204).end())
    const { tachograph } = await proxyTo(url, { open: true })
    // Where a request comes from is not known here.
    expect((await tachograph.fetch(new Request(`${at}/x`))).status).toBe(401)
    expect((await tachograph.fetch(new Request(`${at.replace("local", "other")}/x`))).status).toBe(404)
    expect((await tachograph.fetch(new Request(`${at}/x`, { headers: withKey }))).status).toBe(204)
  })

  it("is not there unless it is configured", async () => {
    const tachograph = await opened()
    const response = await tachograph.fetch(new Request(`${at}/x`, { headers: withKey }))
    expect([response.status, await response.json()]).toEqual([404, { type: "not-found" }])
  })
})
