/** Upstreams that answer before they have the whole request, and close. */
import { Certificate } from "@tachograph/testkit"
import { hash } from "node:crypto"
import { once } from "node:events"
import { request as httpRequest, type IncomingMessage } from "node:http"
import { type AddressInfo, connect, createServer, type Server, type Socket } from "node:net"
import { setImmediate as nextTurn } from "node:timers/promises"
import { createServer as createTlsServer } from "node:tls"
import { describe, expect, it, onTestFinished, vi } from "vitest"
import type { Tachograph } from "../../src/index.ts"
import * as UpstreamAgents from "../../src/proxy/UpstreamAgents.ts"
import { apiKey } from "../Samples.ts"
import { proxyTo, send, withKey } from "./Client.ts"
import { bodyOf } from "./Upstream.ts"

Certificate.trust()

const answer = '{"error":{"type":"too_large"}}'
const head = `HTTP/1.1 413 Payload Too Large\r\nContent-Length: ${answer.length}\r\n`
const body = `{"messages":[],"x":"${"x".repeat(8_000_000)}"}`
const path = "/proxy/local/chat/completions"

type Answering = (socket: Socket) => unknown

/** A provider that reads the beginning of a request only. */
const providers: Readonly<Record<string, (answering: Answering) => Server>> = {
  http: (answering) => createServer(answering),
  https: (answering) => createTlsServer({ cert: Certificate.cert, key: Certificate.key }, answering)
}

const providing = async (scheme: string, work: Answering): Promise<string> => {
  const server = providers[scheme]!((socket) => {
    socket.on("error", () => {}).once("data", () => work(socket.pause()))
  })
  await once(server.listen(0, "127.0.0.1"), "listening")
  onTestFinished(() => void server.close())
  return `${scheme}://127.0.0.1:${(server.address() as AddressInfo).port}`
}

const recorded = async ({ api }: Tachograph): Promise<string> => {
  const { events } = await vi.waitFor(
    async () => {
      const page = await api.listEvents()
      expect(page.events).toHaveLength(1)
      return page
    },
    { timeout: 60_000, interval: 5 }
  )
  return api.getEvent.text({ event_id: events[0]!.event_id })
}

describe.each(["http", "https"])("an upstream over %s", (scheme) => {
  it.each(["", "Connection: close\r\n"])(
    "that answers and closes before it has the request is heard, and the call recorded (%j)",
    async (line) => {
      const url = await providing(scheme, (socket) => {
        socket.write(`${head}${line}\r\n${answer}`, () => socket.destroy())
      })
      const { port, tachograph } = await proxyTo(url)
      const got = await send(port, path, { headers: withKey, body: Buffer.from(body) })
      expect([got.answer.statusCode, String(got.body)]).toEqual([413, answer])
      const text = await recorded(tachograph)
      expect(text.includes(`"inputs":${body},"output":${answer}`)).toBe(true)
      expect(JSON.parse(text)).toMatchObject({ http_status: 413 })
    }
  )

  it("is heard over fetch as well", async () => {
    const url = await providing(scheme, (socket) => {
      socket.write(`${head}\r\n${answer}`, () => socket.destroy())
    })
    const { tachograph } = await proxyTo(url)
    const stream = new Blob([body]).stream()
    const init = { method: "POST", headers: withKey, body: stream, duplex: "half" as const }
    const got = await tachograph.fetch(new Request(`http://tachograph.example${path}`, init))
    expect([got.status, await got.text()]).toEqual([413, answer])
    expect((await recorded(tachograph)).includes(`"inputs":${body},"output":${answer}`)).toBe(true)
  })

  it("that answers no HTTP is recorded with the code of that", async () => {
    const { port, tachograph } = await proxyTo(await providing(scheme, (socket) => socket.end("no HTTP\r\n\r\n")))
    await send(port, path, { headers: withKey, body: '{"messages":[]}' })
    expect(await recorded(tachograph)).toContain('"message":"The connection failed: HPE_INVALID_CONSTANT."')
  })

  it("that closes without an answer is 502", async () => {
    const { port, tachograph } = await proxyTo(await providing(scheme, (socket) => socket.destroy()))
    const got = await send(port, path, { headers: withKey, body: Buffer.from(body) })
    expect(got.answer.statusCode).toBe(502)
    expect(await recorded(tachograph)).toContain('"type":"connection_error"')
  })
})

describe.each(["http", "https"])(
  "a request over %s that is not sent to its end, because its answer has come",
  (scheme) => {
    const denied = (connection: string) =>
      `HTTP/1.1 401 Unauthorized\r\n${connection}Content-Length: ${answer.length}\r\n\r\n${answer}`
    const came = '{"messages":[{"role":"user","content":"as far as it ca'

    const expectCut = async (tachograph: Tachograph) => {
      expect(JSON.parse(await recorded(tachograph))).toMatchObject({
        http_status: 401,
        session: hash("sha256", came),
        properties: {
          api: "provider1-chat-completions",
          inputs: { error: { type: "cut", message: "The request ended before all of it had come.", body: came } },
          output: JSON.parse(answer)
        }
      })
    }

    it("is recorded with that answer, as far as it came", async () => {
      const { port, tachograph } = await proxyTo(await providing(scheme, (socket) => socket.write(denied(""))))
      const head = `POST ${path} HTTP/1.1\r\nHost: x\r\nx-tachograph-key: ${apiKey}\r\nContent-Length: 1000000\r\n\r\n`
      const socket = connect(port, "127.0.0.1")
      socket.write(head + came)
      let text = ""
      for await (const chunk of socket) {
        text += String(chunk)
        // The socket ends with the loop.
        if (text.endsWith(answer)) break
      }
      expect(text).toMatch(/^HTTP\/1.1 401 Unauthorized\r\n/)
      await expectCut(tachograph)
    })

    it("is recorded so over fetch", async () => {
      const { tachograph } = await proxyTo(await providing(scheme, (socket) => socket.write(denied(""))))
      const aborter = new AbortController()
      const stream = new ReadableStream({
        start: (controller) => {
          controller.enqueue(Buffer.from(came))
          aborter.signal.addEventListener("abort", () => controller.error(new Error("The client is gone")))
        }
      })
      const init = { method: "POST", headers: withKey, body: stream, duplex: "half" as const }
      const got = await tachograph.fetch(new Request(`http://tachograph.example${path}`, init))
      expect([got.status, await got.text()]).toEqual([401, answer])
      aborter.abort()
      await expectCut(tachograph)
    })

    it.each(["", "Connection: close\r\n"])("is recorded whole where the rest comes all the same (%j)", async (line) => {
      const { port, tachograph } = await proxyTo(await providing(scheme, (socket) => socket.write(denied(line))))
      const sent = httpRequest({ port, path, method: "POST", headers: { ...withKey, "content-length": body.length } })
      sent.flushHeaders()
      sent.write(body.slice(0, 1_000))
      const [got] = (await once(sent, "response")) as [IncomingMessage]
      expect([got.statusCode, String(await bodyOf(got))]).toEqual([401, answer])
      sent.end(body.slice(1_000))
      expect((await recorded(tachograph)).includes(`"inputs":${body},"output":${answer}`)).toBe(true)
      // No other request can use the connection to the upstream.
      expect(sent.destroyed || sent.writableFinished).toBe(true)
    })

    it("is recorded whole over fetch where the upstream reads no more of it", async () => {
      const { tachograph } = await proxyTo(await providing(scheme, (socket) => socket.write(denied(""))))
      const stream = new Blob(
        Array.from({ length: 8 }, (_, at) => body.slice(at * 1_000_003, (at + 1) * 1_000_003))
      ).stream()
      const init = { method: "POST", headers: withKey, body: stream, duplex: "half" as const }
      const got = await tachograph.fetch(new Request(`http://tachograph.example${path}`, init))
      expect([got.status, await got.text()]).toEqual([401, answer])
      expect((await recorded(tachograph)).includes(`"inputs":${body},"output":${answer}`)).toBe(true)
    })

    it("is recorded so over fetch where nothing says that it has ended", async () => {
      const url = await providing(scheme, (socket) => socket.write(denied("")))
      const { tachograph } = await proxyTo(url, { idleTimeoutMs: 2_000 })
      const stream = new ReadableStream({ start: (controller) => controller.enqueue(Buffer.from(came)) })
      const init = { method: "POST", headers: withKey, body: stream, duplex: "half" as const }
      const got = await tachograph.fetch(new Request(`http://tachograph.example${path}`, init))
      expect([got.status, await got.text()]).toEqual([401, answer])
      await expectCut(tachograph)
    })

    it("takes the rest of a request over fetch that is no call", async () => {
      const { tachograph } = await proxyTo(await providing(scheme, (socket) => socket.write(denied(""))))
      let finish: () => void
      const finished = new Promise<void>((resolve) => (finish = resolve))
      let left = 80
      const stream = new ReadableStream({
        pull: (controller) => {
          if (left-- > 0) return controller.enqueue(Buffer.alloc(100_000))
          controller.close()
          finish()
        }
      })
      const init = { method: "POST", headers: withKey, body: stream, duplex: "half" as const }
      const got = await tachograph.fetch(new Request("http://tachograph.example/proxy/local/files", init))
      expect([got.status, await got.text()]).toEqual([401, answer])
      await finished
    })
  }
)

it("does not keep a connection that nothing can be written to, and reads it to its end", async () => {
  const url = await providing("http", (socket) => socket.write("the answer", () => socket.resetAndDestroy()))
  const agent = UpstreamAgents.make({ keepAlive: true })["http:"]
  const socket = agent.createConnection({ host: "127.0.0.1", port: Number(new URL(url).port) }) as Socket
  // Nothing is read, so that a write is what fails first.
  await once(socket.pause(), "connect")
  expect(agent.keepSocketAlive(socket)).toBe(true)
  await vi.waitFor(
    async () => {
      await new Promise((done) => socket.write("x", done))
      expect(agent.keepSocketAlive(socket)).toBe(false)
    },
    { timeout: 60_000 }
  )
  const [chunk] = await once(socket.resume(), "data")
  expect(String(chunk)).toBe("the answer")
  await once(socket, "close")
})

it("an upstream that resets its connection instead of ending its answer with it is no whole answer", async () => {
  const url = await providing("http", async (socket) => {
    socket.write("HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nConnection: close\r\n\r\n{}", async () => {
      await new Promise((resolve) => setTimeout(resolve, 50))
      socket.resetAndDestroy()
    })
  })
  const { port, tachograph } = await proxyTo(url)
  await expect(send(port, path, { headers: withKey, body: Buffer.from("{}") })).rejects.toThrow("aborted")
  const request = new Request(`http://host${path}`, { method: "POST", headers: withKey, body: "{}" })
  await expect((await tachograph.fetch(request)).text()).rejects.toThrow()
})

it("an upstream that resets its connection right after a stream of small chunks is heard to the end", async () => {
  const url = await providing("http", async (socket) => {
    socket.write("HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n")
    for (const chunk of ["1", "2", "3", "4", "5"]) {
      await nextTurn()
      socket.write(`1\r\n${chunk}\r\n`)
    }
    socket.write("0\r\n\r\n", () => socket.resetAndDestroy())
  })
  const { port } = await proxyTo(url)
  for (let round = 0; round < 40; round++) {
    const got = await send(port, path, { headers: withKey, body: Buffer.from("{}") })
    expect([got.answer.statusCode, String(got.body)]).toEqual([200, "12345"])
  }
})
