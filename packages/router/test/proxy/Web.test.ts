/** The proxy over the mount for fetch handlers. */
import { randomBytes } from "node:crypto"
import { once } from "node:events"
import type { ServerResponse } from "node:http"
import { gzipSync } from "node:zlib"
import { describe, expect, it, vi } from "vitest"
import type { Tachograph } from "../../src/index.ts"
import { opened } from "../Samples.ts"
import { proxyTo, withKey } from "./Client.ts"
import { listen, upstream } from "./Upstream.ts"

const at = "http://tachograph.example/proxy/local"

const recordedText = ({ api }: Tachograph) =>
  vi.waitFor(
    async () => {
      const [event] = (await api.listEvents()).events
      return api.getEvent.text({ event_id: event!.event_id })
    },
    { timeout: 60_000 }
  )

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

  it("refuses a WebSocket with a status after which clients use HTTP", async () => {
    const { tachograph } = await proxyTo("http://127.0.0.1:1")
    const headers = { ...withKey, upgrade: "websocket" }
    const response = await tachograph.fetch(new Request(`${at}/responses`, { headers }))
    expect([response.status, response.headers.get("upgrade")]).toEqual([426, "HTTP/1.1"])
    expect(await response.json()).toMatchObject({ type: "upgrade-unsupported" })
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

  it("asks no upstream if the request was aborted before, or while its key was looked up", async () => {
    const { received, url } = await upstream((response) => void response.end())
    const { tachograph } = await proxyTo(url)
    const before = new Request(`${at}/x`, { headers: withKey, signal: AbortSignal.abort() })
    await expect(tachograph.fetch(before)).rejects.toMatchObject({ name: "AbortError" })
    const aborter = new AbortController()
    const authorize = async () => {
      aborter.abort()
      return { project: "p", scopes: ["record" as const] }
    }
    const slow = await opened({ authorize, proxy: { upstreams: { local: url } } })
    const meanwhile = new Request(`${at}/x`, { signal: aborter.signal })
    await expect(slow.fetch(meanwhile)).rejects.toMatchObject({ name: "AbortError" })
    // The connection that a request would have taken is free.
    await (await tachograph.fetch(new Request(`${at}/y`, { headers: withKey }))).text()
    expect(received.map(({ url }) => url)).toEqual(["/y"])
  })

  it("refuses a request whose body was read before", async () => {
    const { received, url } = await upstream((response) => void response.end())
    const { tachograph } = await proxyTo(url)
    const request = new Request(`${at}/x`, { method: "POST", headers: withKey, body: "{}" })
    await request.text()
    const response = await tachograph.fetch(request)
    expect([response.status, ((await response.json()) as { type: string }).type]).toEqual([500, "body-parsed"])
    expect(received).toEqual([])
  })

  it("holds nothing of a call with a header that cannot be sent", async () => {
    const { received, url } = await upstream((response) => void response.end("{}"))
    const { tachograph } = await proxyTo(url)
    const call = async (headers: Record<string, string>) => {
      const init = { method: "POST", headers: { ...withKey, ...headers }, body: '{"messages":[]}' }
      return (await tachograph.fetch(new Request(`${at}/chat/completions`, init))).status
    }
    for (let n = 0; n < 10; n++) expect(await call({ x: "\u0001" })).toBe(502)
    expect(await call({})).toBe(200)
    expect(received).toHaveLength(1)
    await vi.waitFor(
      async () => {
        const metrics = await (await tachograph.fetch(new Request("http://host/metrics"))).text()
        expect(/^tachograph_proxy_held_bytes (\d+)$/m.exec(metrics)?.[1]).toBe("0")
      },
      { timeout: 60_000 }
    )
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

  it.each([
    ["says no length", {}, true],
    ["has the length that it says", { "content-length": "36" }, true],
    ["has the length that Connection names", { "content-length": "36", connection: "content-length" }, true],
    ["has a coding that Connection names", { "transfer-encoding": "chunked", connection: "transfer-encoding" }, true],
    ["has a coding and a length", { "transfer-encoding": "chunked", "content-length": "3" }, true],
    ["says its length twice", { "content-length": "3, 36" }, true],
    ["is longer than it says", { "content-length": "3" }, false],
    ["is shorter than it says", { "content-length": "40" }, false]
  ])("passes a body that %s as one request, or breaks it off", async (_name, headers, isWhole) => {
    const smuggled = "GET /smuggled HTTP/1.1\r\nHost: xx\r\n\r\n"
    const { received, url } = await upstream((response) => void response.end())
    const { tachograph } = await proxyTo(url)
    const init = { method: "POST", headers: { ...withKey, ...headers }, body: smuggled }
    const response = await tachograph.fetch(new Request(`${at}/x`, init))
    const next = await tachograph.fetch(new Request(`${at}/next`, { headers: { ...withKey, "content-length": "9" } }))
    expect([response.status, next.status]).toEqual([isWhole ? 200 : 502, 200])
    const requests = received.map(({ body, url }) => [url, String(body)])
    expect(requests).toEqual([...(isWhole ? [["/x", smuggled]] : []), ["/next", ""]])
  })

  it("answers its refusals, and statuses without a body", async () => {
    const { url } = await upstream((response) => void response.writeHead(204).end())
    const { tachograph } = await proxyTo(url, { open: true })
    // Where a request comes from is not known here.
    expect((await tachograph.fetch(new Request(`${at}/x`))).status).toBe(401)
    expect((await tachograph.fetch(new Request(`${at.replace("local", "other")}/x`))).status).toBe(404)
    expect((await tachograph.fetch(new Request(`${at}/x`, { headers: withKey }))).status).toBe(204)
  })

  it("is 502 where the upstream answers with a status that a response cannot have", async () => {
    const { url } = await upstream((response) => void response.writeHead(600).end("{}"))
    const { tachograph } = await proxyTo(url)
    const init = { method: "POST", headers: withKey, body: '{"messages":[]}' }
    const response = await tachograph.fetch(new Request(`${at}/chat/completions`, init))
    expect([response.status, ((await response.json()) as { type: string }).type]).toEqual([502, "upstream-unreachable"])
    expect(JSON.parse(await recordedText(tachograph))).toMatchObject({
      properties: { output: { error: { type: "connection_error" } } }
    })
  })

  it("says of an answer that the host did not read that the call was aborted", async () => {
    const { url } = await upstream((response) => void response.end('{"choices":[]}'))
    const { tachograph } = await proxyTo(url)
    const init = { method: "POST", headers: withKey, body: '{"messages":[]}' }
    const response = await tachograph.fetch(new Request(`${at}/chat/completions`, init))
    // It has come whole, with its headers.
    await response.body!.cancel()
    const { http_status, properties } = JSON.parse(await recordedText(tachograph))
    expect([http_status, properties.output.error.type]).toEqual([200, "aborted"])
  })

  it("says so of one that the host cancels while it is read", async () => {
    const port = await listen((_message, response) => void response.write('{"choices":'))
    const { tachograph } = await proxyTo(`http://127.0.0.1:${port}`)
    const init = { method: "POST", headers: withKey, body: '{"messages":[]}' }
    const response = await tachograph.fetch(new Request(`${at}/chat/completions`, init))
    const reader = response.body!.getReader()
    await reader.read()
    void reader.read().catch(() => {})
    await reader.cancel()
    expect(JSON.parse(await recordedText(tachograph)).properties.output.error.type).toBe("aborted")
  })

  it("says so of one whose request breaks off while it is answered", async () => {
    const port = await listen((_message, response) => void response.write('{"choices":'))
    const { tachograph } = await proxyTo(`http://127.0.0.1:${port}`)
    let breakOff: () => void
    const body = new ReadableStream({
      start: (controller) => {
        controller.enqueue(Buffer.from('{"messages":[]}'))
        breakOff = () => controller.error(new Error("The client is gone"))
      }
    })
    const init = { method: "POST", headers: withKey, body, duplex: "half" as const }
    const response = await tachograph.fetch(new Request(`${at}/chat/completions`, init))
    breakOff!()
    await expect(response.text()).rejects.toThrow()
    const { properties } = JSON.parse(await recordedText(tachograph))
    expect([properties.inputs, properties.output.error.type]).toEqual([{ messages: [] }, "aborted"])
  })

  it("is not there unless it is configured, and says so", async () => {
    const tachograph = await opened()
    const response = await tachograph.fetch(new Request(`${at}/x`, { headers: withKey }))
    const message = "The proxy is off: start with --proxy, or pass proxy to createTachograph."
    expect([response.status, await response.json()]).toEqual([404, { type: "not-found", message }])
    const other = await tachograph.fetch(new Request("http://tachograph.example/proxying/x"))
    expect(await other.json()).toEqual({ type: "not-found" })
  })
})
