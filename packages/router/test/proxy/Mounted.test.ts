/** The proxy within frameworks: what the application gets is what the provider sent, byte for byte, and it is recorded. */
import { serve } from "@hono/node-server"
import express from "express"
import fastify from "fastify"
import { Hono } from "hono"
import { randomBytes } from "node:crypto"
import { once } from "node:events"
import { createServer, type IncomingMessage, request as httpRequest, type Server } from "node:http"
import type { AddressInfo } from "node:net"
import { describe, expect, it, onTestFinished, vi } from "vitest"
import type { Tachograph } from "../../src/index.ts"
import { opened } from "../Samples.ts"
import { send, withKey } from "./Client.ts"
import { bodyOf, listen, upstream } from "./Upstream.ts"

const listening = async (server: Server): Promise<number> => {
  if (!server.listening) await once(server.listen(0, "127.0.0.1"), "listening")
  onTestFinished(() => {
    server.close()
    server.closeAllConnections()
  })
  return (server.address() as AddressInfo).port
}

const mounts: Readonly<Record<string, (tachograph: Tachograph) => Promise<number>>> = {
  Express: (tachograph) => {
    const app = express()
    app.use("/recorder", tachograph.node)
    return listening(createServer(app))
  },
  "Express after a parser that keeps the bytes": (tachograph) => {
    const app = express()
    app.use(express.raw({ type: () => true, limit: "64mb" }))
    app.use("/recorder", tachograph.node)
    return listening(createServer(app))
  },
  Fastify: async (tachograph) => {
    const app = fastify()
    app.addHook("onRequest", (request, reply, done) => tachograph.node(request.raw, reply.raw, done))
    await app.listen({ host: "127.0.0.1", port: 0 })
    onTestFinished(() => app.close())
    return (app.server.address() as AddressInfo).port
  },
  Hono: async (tachograph) => {
    const app = new Hono().mount("/recorder", (request) => tachograph.fetch(request))
    const server = serve({ fetch: app.fetch, port: 0, hostname: "127.0.0.1" }) as Server
    if (!server.listening) await once(server, "listening")
    return listening(server)
  }
}

/** Where the instance itself knows the path that it is mounted at. */
const withBasePath: ReadonlySet<string> = new Set(["Fastify"])

const path = "/recorder/proxy/local/v1/chat/completions"

const texts = async ({ api }: Tachograph, count: number) => {
  const events = await vi.waitFor(
    async () => {
      const page = await api.listEvents()
      expect(page.events).toHaveLength(count)
      return page.events
    },
    { timeout: 60_000, interval: 5 }
  )
  return Promise.all(events.map(({ event_id }) => api.getEvent.text({ event_id })))
}

describe.each(Object.keys(mounts))("the proxy in %s", (name) => {
  const mounted = async (url: string) => {
    const basePath = withBasePath.has(name) ? "/recorder" : ""
    const tachograph = await opened({ basePath, proxy: { upstreams: { local: url } } })
    return { tachograph, port: await mounts[name]!(tachograph) }
  }

  it("passes 9 MB both ways as they are, and records them", async () => {
    const image = randomBytes(4_500_000).toString("hex")
    const answer = `{"choices":[],  "image":"${image}"}`
    const { received, url } = await upstream((response) => {
      response.writeHead(200, { "content-type": "application/json" }).end(answer)
    })
    const { port, tachograph } = await mounted(url)
    const body = `{"messages":[],  "image":"${image}"}`
    const got = await send(port, path, { headers: withKey, body })
    expect([got.answer.statusCode, String(got.body) === answer]).toEqual([200, true])
    expect(String(received[0]!.body) === body).toBe(true)
    const [text] = await texts(tachograph, 1)
    expect(text!.includes(`"inputs":${body},"output":${answer}`)).toBe(true)
  })

  it("passes a stream chunk by chunk, and ends it where the application does", async () => {
    let isClosed = false
    const chunk = 'data: {"choices":[{"index":0,"delta":{"content":"so far"}}]}\n\n'
    const upstreamPort = await listen((message, response) => {
      message.resume()
      response.writeHead(200, { "content-type": "text/event-stream" }).write(chunk)
      response.on("close", () => (isClosed = true))
    })
    const { port, tachograph } = await mounted(`http://127.0.0.1:${upstreamPort}`)
    const sent = httpRequest({ host: "127.0.0.1", port, path, method: "POST", headers: withKey }).end('{"messages":[]}')
    const [answer] = await once(sent, "response")
    expect(String((await once(answer, "data"))[0])).toBe(chunk)
    answer.on("error", () => {})
    sent.destroy()
    await vi.waitFor(() => expect(isClosed).toBe(true), { timeout: 60_000 })
    const [text] = await texts(tachograph, 1)
    expect(text).toContain("so far")
    expect(text).toContain('"type":"aborted"')
  })

  const early = '{"error":{"type":"rate_limit"}}'

  /** Begins a request whose answer comes before the whole of it has. */
  const answeredEarly = async () => {
    const upstreamPort = await listen((message, response) => {
      response.writeHead(429, { "content-type": "application/json" }).end(early)
      message.resume()
    })
    const { port, tachograph } = await mounted(`http://127.0.0.1:${upstreamPort}`)
    const body = `{"messages":[], "x":"${"x".repeat(300_000)}"}`
    const headers = { ...withKey, "content-length": body.length }
    const sent = httpRequest({ host: "127.0.0.1", port, path, method: "POST", headers }).on("error", () => {})
    sent.write(body.slice(0, 1_000))
    const hasParser = name.includes("parser")
    if (hasParser) sent.end(body.slice(1_000))
    const [answer] = (await once(sent, "response")) as [IncomingMessage]
    expect([answer.statusCode, String(await bodyOf(answer))]).toEqual([429, early])
    return { body, hasParser, sent, tachograph }
  }

  it("records an answer that comes before the whole request has, and then all of it", async () => {
    const { body, hasParser, sent, tachograph } = await answeredEarly()
    if (!hasParser) sent.end(body.slice(1_000))
    const [text] = await texts(tachograph, 1)
    expect(text!.includes(`"inputs":${body},"output":${early}`)).toBe(true)
    expect(JSON.parse(text!)).toMatchObject({ http_status: 429 })
  })

  it("reads a provider no faster than the application takes it", async () => {
    const size = 60_000_000
    let written = 0
    const upstreamPort = await listen((message, response) => {
      message.resume()
      const chunk = Buffer.alloc(100_000)
      const write = () => {
        while (written < size) {
          written += chunk.length
          if (!response.write(chunk)) return void response.once("drain", write)
        }
        response.end()
      }
      write()
    })
    const { port } = await mounted(`http://127.0.0.1:${upstreamPort}`)
    const target = "/recorder/proxy/local/v1/files"
    const sent = httpRequest({ host: "127.0.0.1", port, path: target, headers: withKey }).end()
    const [answer] = await once(sent, "response")
    let before = -1
    // It stands still once what lies between is full.
    while (before !== written) {
      before = written
      await new Promise((done) => setTimeout(done, 300))
    }
    expect(written).toBeLessThan(size)
    let read = 0
    for await (const chunk of answer) read += (chunk as Buffer).length
    expect(read).toBe(size)
  })

  // A parser of the host refuses it.
  if (name.includes("parser")) return

  it("records as much as came of a request that breaks off then", async () => {
    const { body, sent, tachograph } = await answeredEarly()
    sent.destroy()
    const [text] = await texts(tachograph, 1)
    expect(JSON.parse(text!)).toMatchObject({
      http_status: 429,
      properties: { inputs: { error: { type: "cut", body: body.slice(0, 1_000) } }, output: JSON.parse(early) }
    })
  })
})
