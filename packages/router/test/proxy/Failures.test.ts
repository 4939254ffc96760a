/** What ends early at one side of the proxy ends at the other, and nothing is held that is not taken. */
import { request as httpRequest, type IncomingMessage, type ServerResponse } from "node:http"
import { connect, createServer, type AddressInfo } from "node:net"
import { once } from "node:events"
import { describe, expect, it, onTestFinished, vi } from "vitest"
import type { ProxyOptions } from "../../src/proxy/ProxyOptions.ts"
import { apiKey, opened } from "../Samples.ts"
import { exchange } from "../Served.ts"
import { proxyTo, send, withKey } from "./Client.ts"
import { listen, upstream } from "./Upstream.ts"

const errorOf = ({ answer, body }: { answer: IncomingMessage; body: Buffer }) => [
  answer.statusCode,
  JSON.parse(String(body)).type
]

/** A port that nothing listens on. */
const closedPort = async () => {
  const server = createServer().listen(0, "127.0.0.1")
  await once(server, "listening")
  const { port } = server.address() as AddressInfo
  server.close()
  return port
}

describe("an upstream that fails", () => {
  it("is 502 where it cannot be reached", async () => {
    const { port } = await proxyTo(`http://127.0.0.1:${await closedPort()}`)
    const sent = await send(port, "/proxy/local/x", { headers: withKey, body: "{}" })
    expect(errorOf(sent)).toEqual([502, "upstream-unreachable"])
    expect(sent.answer.headers["x-request-id"]).toMatch(/^[0-9a-f-]{36}$/)
  })

  it("is 502 where it closes the connection instead of answering, and the connection to the proxy stays usable", async () => {
    const { url } = await upstream((response) => void response.destroy())
    const { port } = await proxyTo(url)
    const sent = await send(port, "/proxy/local/x", { headers: withKey, body: Buffer.alloc(300_000) })
    expect(errorOf(sent)).toEqual([502, "upstream-unreachable"])
    expect(sent.answer.headers["connection"]).toBe("keep-alive")
  })

  it("is 502 where it answers no HTTP", async () => {
    const server = createServer((socket) => void socket.end("no HTTP\r\n\r\n")).listen(0, "127.0.0.1")
    await once(server, "listening")
    onTestFinished(() => void server.close())
    const { port } = await proxyTo(`http://127.0.0.1:${(server.address() as AddressInfo).port}`)
    expect(errorOf(await send(port, "/proxy/local/x", { headers: withKey }))).toEqual([502, "upstream-unreachable"])
  })

  it("is 504 where it stays silent", async () => {
    const upstreamPort = await listen(() => {})
    const { port } = await proxyTo(`http://127.0.0.1:${upstreamPort}`, { idleTimeoutMs: 20 })
    expect(errorOf(await send(port, "/proxy/local/x", { headers: withKey }))).toEqual([504, "upstream-timeout"])
  })

  it("may take longer to connect than a timer can wait, and is 504 where it takes longer than it may", async () => {
    // No TLS ever begins here, and the connection ends after some time.
    const server = createServer((socket) => void setTimeout(() => socket.destroy(), 200)).listen(0, "127.0.0.1")
    await once(server, "listening")
    onTestFinished(() => void server.close())
    const url = `https://127.0.0.1:${(server.address() as AddressInfo).port}`
    const sendWithin = async (times: ProxyOptions) =>
      errorOf(await send((await proxyTo(url, times)).port, "/proxy/local/x", { headers: withKey }))
    expect(await sendWithin({ connectTimeoutMs: 2 ** 31, idleTimeoutMs: 1e12 })).toEqual([502, "upstream-unreachable"])
    expect(await sendWithin({ connectTimeoutMs: 20 })).toEqual([504, "upstream-timeout"])
  })

  it("breaks the response off where it stands if it dies in the middle, or falls silent", async () => {
    for (const options of [{}, { idleTimeoutMs: 4_000 }]) {
      const isSilent = "idleTimeoutMs" in options
      const upstreamPort = await listen((_message, response) => {
        response.write("half", () => isSilent || response.destroy())
      })
      const { port } = await proxyTo(`http://127.0.0.1:${upstreamPort}`, options)
      const sent = httpRequest({ port, host: "127.0.0.1", path: "/proxy/local/x", headers: withKey }).end()
      const [answer] = (await once(sent, "response")) as [IncomingMessage]
      let text = ""
      const error = await new Promise((resolve) =>
        answer
          .on("data", (chunk) => (text += chunk))
          .once("error", resolve)
          .once("end", resolve)
      )
      expect([text, (error as NodeJS.ErrnoException).code]).toEqual(["half", "ECONNRESET"])
    }
  })

  it("may answer before it has the whole request", async () => {
    const upstreamPort = await listen((_message, response) => void response.writeHead(413).end("too large"))
    const { port } = await proxyTo(`http://127.0.0.1:${upstreamPort}`)
    const { answer, body } = await send(port, "/proxy/local/x", { headers: withKey, body: Buffer.alloc(8_000_000) })
    expect([answer.statusCode, String(body)]).toEqual([413, "too large"])
  })

  it("keeps its redirects", async () => {
    const { url } = await upstream(
      (response) => void response.writeHead(307, { location: "http://evil.example/" }).end()
    )
    const { port } = await proxyTo(url)
    const { answer } = await send(port, "/proxy/local/x", { headers: withKey })
    expect([answer.statusCode, answer.headers.location]).toEqual([307, "http://evil.example/"])
  })
})

describe("a host that ends a response", () => {
  it.each([
    ["in chunks, gets no error, and the connection is usable", {}, /the host's own[^]*some[^]*"status":"ok"/],
    ["of a known length, has its connection closed", { "content-length": "100" }, /the host's own[^]*CLOSED$/]
  ])("while it waits behind another one, %s", async (_what, headers, shown) => {
    let answering: ServerResponse | undefined
    const upstreamPort = await listen((_message, response) => {
      answering = response
      response.writeHead(200, headers).write("some")
    })
    const tachograph = await opened({ proxy: { upstreams: { local: `http://127.0.0.1:${upstreamPort}` } } })
    let own: ServerResponse | undefined
    let waiting: ServerResponse | undefined
    const port = await listen((message, response) => {
      if (message.url === "/own") return void (own = response).write("the host's own")
      waiting = response
      tachograph.node(message, response)
    })
    const socket = connect(port, "127.0.0.1")
    onTestFinished(() => void socket.destroy())
    let read = ""
    socket.on("data", (chunk) => void (read += chunk)).once("close", () => (read += "CLOSED"))
    const ask = (method: string, path: string) =>
      socket.write(`${method} ${path} HTTP/1.1\r\nhost: x\r\nx-tachograph-key: ${apiKey}\r\n\r\n`)
    ask("GET", "/own")
    ask("GET", "/proxy/local/x")
    await expect.poll(() => waiting?.headersSent).toBe(true)
    waiting!.end()
    // Node reports what is written after the end when the event loop turns.
    answering!.write("and more")
    await expect.poll(() => waiting!.listenerCount("unpipe")).toBe(0)
    own!.end()
    ask("GET", "/health")
    await expect.poll(() => read).toMatch(shown)
  })
})

describe("a client that goes", () => {
  it("ends the request to the upstream, before an answer and in the middle of one", async () => {
    for (const hasBegun of [false, true]) {
      let arrived: (response: ServerResponse) => void
      const arriving = new Promise<ServerResponse>((resolve) => (arrived = resolve))
      const upstreamPort = await listen((_message, response) => arrived(response))
      const { port } = await proxyTo(`http://127.0.0.1:${upstreamPort}`)
      const sent = httpRequest({ port, host: "127.0.0.1", path: "/proxy/local/x", headers: withKey }).end()
      sent.on("error", () => {})
      const response = await arriving
      const closed = once(response, "close")
      if (hasBegun) {
        response.write("some")
        const [answer] = (await once(sent, "response")) as [IncomingMessage]
        answer.on("error", () => {})
      }
      sent.destroy()
      await closed
    }
  })

  it("ends it in the middle of its request", async () => {
    let arrived: (message: IncomingMessage) => void
    const arriving = new Promise<IncomingMessage>((resolve) => (arrived = resolve))
    const upstreamPort = await listen((message) => arrived(message))
    const { port } = await proxyTo(`http://127.0.0.1:${upstreamPort}`)
    const socket = connect(port, "127.0.0.1")
    socket.write(
      `POST /proxy/local/x HTTP/1.1\r\nhost: x\r\nx-tachograph-key: ${apiKey}\r\ncontent-length: 9\r\n\r\nhalf`
    )
    const message = await arriving
    const [chunk] = (await once(message, "data")) as [Buffer]
    const failed = once(message, "error")
    socket.destroy()
    await failed
    expect(String(chunk)).toBe("half")
  })
})

describe("backpressure", () => {
  const megabyte = Buffer.alloc(1024 * 1024)
  const total = 256

  /** Writes without end, until the other side takes no more for a while; returns how many megabytes it took. */
  const fill = async (writable: NodeJS.WritableStream): Promise<number> => {
    for (let written = 0; written < total; written++) {
      if (writable.write(megabyte)) continue
      // The buffers of three connections are full when a write is not taken in this time, or the test fails below.
      const drained = once(writable, "drain")
      const isDrained = await Promise.race([drained, new Promise((resolve) => setTimeout(resolve, 500, false))])
      if (isDrained === false) return written
    }
    return total
  }

  it("makes the upstream wait for a client that does not read", async () => {
    let filled: (megabytes: number) => void
    const filling = new Promise<number>((resolve) => (filled = resolve))
    const upstreamPort = await listen((_message, response) => void fill(response).then(filled))
    const { port } = await proxyTo(`http://127.0.0.1:${upstreamPort}`)
    const sent = httpRequest({ port, host: "127.0.0.1", path: "/proxy/local/x", headers: withKey }).end()
    const [answer] = (await once(sent, "response")) as [IncomingMessage]
    expect(await filling).toBeLessThan(64)
    answer.destroy()
  })

  it("makes a client wait for an upstream that does not read", async () => {
    const upstreamPort = await listen(() => {})
    const { port } = await proxyTo(`http://127.0.0.1:${upstreamPort}`)
    const sent = httpRequest({ port, host: "127.0.0.1", path: "/proxy/local/x", method: "POST", headers: withKey })
    sent.on("error", () => {})
    expect(await fill(sent)).toBeLessThan(64)
    sent.destroy()
  })
})

it("drops hints of an upstream that a client does not take", async () => {
  const hints = `HTTP/1.1 103 Early Hints\r\nLink: </${"a".repeat(50_000)}>\r\n\r\n`.repeat(20)
  const count = 40
  let sent: () => void
  const sending = new Promise<void>((resolve) => (sent = resolve))
  const server = createServer((socket) => {
    socket
      .on("error", () => {})
      .once("data", async () => {
        for (let n = 0; n < count; n++) await new Promise((done) => socket.write(hints, done))
        socket.end("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok", () => sent())
      })
  }).listen(0, "127.0.0.1")
  await once(server, "listening")
  onTestFinished(() => void server.close())
  const { port } = await proxyTo(`http://127.0.0.1:${(server.address() as AddressInfo).port}`)
  const socket = connect(port, "127.0.0.1").pause()
  const lines = ["GET /proxy/local/x HTTP/1.1", "host: x", `x-tachograph-key: ${apiKey}`, "connection: close", "", ""]
  socket.write(lines.join("\r\n"))
  await sending
  const chunks: Array<Buffer> = []
  for await (const chunk of socket) chunks.push(chunk as Buffer)
  const got = Buffer.concat(chunks)
  expect(got.length).toBeLessThan((count * hints.length) / 2)
  expect(got.toString("latin1")).toMatch(/HTTP\/1.1 200 OK\r\nContent-Length: 2\r\nConnection: close\r\n\r\nok$/)
})

it("takes at most 256 requests on a connection that wait for their answers", async () => {
  const waiting: Array<ServerResponse> = []
  const upstreamPort = await listen((_message, response) => void waiting.push(response))
  const { port } = await proxyTo(`http://127.0.0.1:${upstreamPort}`)
  const request = `GET /proxy/local/x HTTP/1.1\r\nhost: x\r\nx-tachograph-key: ${apiKey}\r\n\r\n`
  const patient = connect(port, "127.0.0.1")
  patient.write(request.repeat(256))
  await vi.waitFor(() => expect(waiting).toHaveLength(256), { timeout: 60_000 })
  const greedy = connect(port, "127.0.0.1").on("error", () => {})
  const closed = once(greedy, "close")
  greedy.write(request.repeat(257))
  await closed
  expect(patient.destroyed).toBe(false)
  patient.destroy()
})

it("names the upstreams that there are where one is asked for that is not", async () => {
  const { port } = await proxyTo("http://user.example/secret")
  const message =
    "The path names no upstream that is configured, as /proxy/NAME/… does: there are openai, anthropic, gemini, local."
  for (const path of ["/proxy/planted/x", "/proxy/"]) {
    const { answer, body } = await send(port, path, { headers: withKey })
    expect(JSON.parse(String(body))).toEqual({
      type: "upstream-not-found",
      message,
      error: { type: "upstream-not-found", message }
    })
    expect(answer.statusCode).toBe(404)
  }
})

describe("requests that the proxy refuses", () => {
  const lines = (target: string, ...lines: ReadonlyArray<string>) =>
    [`POST ${target} HTTP/1.1`, `x-tachograph-key: ${apiKey}`, ...lines, "", ""].join("\r\n")
  const head = (target: string, ...more: ReadonlyArray<string>) => lines(target, "connection: close", ...more)

  it.each([
    ["an upstream that is not configured", 404, "upstream-not-found", head("/proxy/other/x", "host: x")],
    ["a path out of the base path", 400, "bad-request", head("/proxy/local/%2e%2e/x", "host: x")],
    ["another host in the target", 400, "bad-request", head("http://evil.example/proxy/local/x", "host: x")],
    ["two hosts", 400, "bad-request", head("/proxy/local/x", "host: x", "host: y")]
  ])("%s", async (_name, status, type, request) => {
    const { received, url } = await upstream((response) => void response.end())
    const { port } = await proxyTo(url)
    const text = await exchange(port, request)
    expect(text).toMatch(new RegExp(`^HTTP/1.1 ${status} `))
    expect(text).toContain(`{"type":"${type}"`)
    expect(received).toEqual([])
  })

  it("a WebSocket, with a status after which clients use HTTP", async () => {
    const { received, url } = await upstream((response) => void response.end())
    const { port } = await proxyTo(url)
    const headers = { ...withKey, connection: "Upgrade", upgrade: "websocket" }
    const { answer, body } = await send(port, "/proxy/local/responses", { method: "GET", headers })
    expect([answer.statusCode, answer.headers.upgrade, answer.headers.connection]).toEqual([426, "HTTP/1.1", "upgrade"])
    expect(JSON.parse(String(body)).message).toContain("Make the same call over HTTP, by POST to the same path.")
    expect(received).toEqual([])
  })

  it.each([
    ["two hosts", ["host: x", "host: y"]],
    ["another coding", ["host: x", "transfer-encoding: identity"]],
    ["two keys of the provider", ["host: x", "authorization: a", "authorization: b"]]
  ])("on a connection that it closes then: %s", async (_name, ambiguous) => {
    const { received, url } = await upstream((response) => void response.end())
    const { port } = await proxyTo(url)
    const text = await exchange(port, lines("/proxy/local/x", ...ambiguous) + head("/proxy/local/next", "host: x"))
    expect(text).toMatch(/^HTTP\/1.1 400 .*\r\n(?:.*\r\n)*connection: close\r\n/i)
    expect(text.match(/^HTTP/gm)).toHaveLength(1)
    expect(received).toEqual([])
  })

  it("takes the absolute form with its own host, and ignores an offer of h2c", async () => {
    const { received, url } = await upstream((response) => void response.end())
    const { port } = await proxyTo(url)
    const request = head("http://x/proxy/local/y", "host: x", "connection: upgrade", "upgrade: h2c")
    expect(await exchange(port, request)).toMatch(/^HTTP\/1.1 200 /)
    expect(received[0]!.url).toBe("/y")
    expect(received[0]!.headers.map(([name]) => name)).toEqual(["Host", "Content-Length", "Connection"])
  })
})

describe("a large body", () => {
  it("of 20 MB arrives whole, both ways", async () => {
    const large = Buffer.alloc(20_000_000, "0123456789")
    const { received, url } = await upstream((response) => void response.end(large))
    const { port } = await proxyTo(url)
    const { body } = await send(port, "/proxy/local/x", { headers: withKey, body: large })
    expect([body.equals(large), received[0]!.body.equals(large)]).toEqual([true, true])
  })
})
