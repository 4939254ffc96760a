/** What passes the proxy is what was sent, in both directions, over both kinds of mounts. */
import { randomBytes } from "node:crypto"
import { request as httpRequest, type IncomingMessage } from "node:http"
import { gzipSync } from "node:zlib"
import { describe, expect, it } from "vitest"
import { apiKey, opened } from "../Samples.ts"
import { exchange, served } from "../Served.ts"
import { proxyTo, send, withKey } from "./Client.ts"
import { bodyOf, listen, pairsOf, upstream } from "./Upstream.ts"

describe("the proxy over node:http", () => {
  it("passes method, path, query, headers and body on as they are", async () => {
    const { received, url, port: upstreamPort } = await upstream((response) => void response.end("ok"))
    const { port } = await proxyTo(`${url}/base/`)
    const body = randomBytes(3_000)
    await send(port, "/proxy/local/models/x?b=2&a=%2F", {
      headers: {
        ...withKey,
        Authorization: "Bearer sk-provider",
        "X-Twice": ["one", "two"],
        "X-Tachograph-Session": "s",
        Connection: "keep-alive, X-Hop",
        "X-Hop": "only here",
        TE: "trailers",
        "Content-Encoding": "made-up"
      },
      body
    })
    const [one] = received
    expect(one).toMatchObject({ method: "POST", url: "/base/models/x?b=2&a=%2F" })
    expect(one!.body.equals(body)).toBe(true)
    expect(one!.headers).toEqual([
      ["Host", `127.0.0.1:${upstreamPort}`],
      ["Authorization", "Bearer sk-provider"],
      ["X-Twice", "one"],
      ["X-Twice", "two"],
      ["Content-Encoding", "made-up"],
      ["Content-Length", "3000"],
      ["Connection", "keep-alive"]
    ])
  })

  it("keeps the cookies of people who have signed in to Tachograph, and passes others on", async () => {
    const { received, url } = await upstream((response) => void response.end())
    const { port, tachograph } = await proxyTo(url)
    const own = "__Host-tachograph=a; __Secure-tachograph-id=b"
    for (const cookie of [`x=1; ${own}; y=-tachograph`, own, "__Host-other=1"]) {
      await send(port, "/proxy/local/x", { headers: { ...withKey, cookie } })
      await tachograph.fetch(new Request("http://host/proxy/local/x", { headers: { ...withKey, cookie } }))
    }
    const passed = received.map(({ headers }) => headers.find(([name]) => /^cookie$/i.test(name))?.[1])
    const [both, none, other] = ["x=1; y=-tachograph", undefined, "__Host-other=1"]
    expect(passed).toEqual([both, both, none, none, other, other])
  })

  it("passes status, reason, headers, encoded body and trailers back as they are", async () => {
    const packed = gzipSync("some text")
    const { url } = await upstream((response) => {
      response.writeHead(429, "Slow Down", [
        ...["Content-Encoding", "gzip", "X-Request-Id", "of the provider", "Set-Cookie", "a=1", "Set-Cookie", "b=2"],
        ...["Keep-Alive", "timeout=77", "Trailer", "X-Sum", "date", "Thu, 01 Jan 1970 00:00:00 GMT"]
      ])
      response.write(packed)
      response.addTrailers({ "X-Sum": "42" })
      response.end()
    })
    const { port } = await proxyTo(url)
    const { answer, body } = await send(port, "/proxy/local/x", { headers: withKey, body: "{}" })
    expect([answer.statusCode, answer.statusMessage]).toEqual([429, "Slow Down"])
    expect(body.equals(packed)).toBe(true)
    expect(answer.rawTrailers).toEqual(["X-Sum", "42"])
    expect(pairsOf(answer.rawHeaders).slice(0, 6)).toEqual([
      ["Content-Encoding", "gzip"],
      ["X-Request-Id", "of the provider"],
      ["Set-Cookie", "a=1"],
      ["Set-Cookie", "b=2"],
      ["Trailer", "X-Sum"],
      ["date", "Thu, 01 Jan 1970 00:00:00 GMT"]
    ])
  })

  it("passes bytes of headers that are not ASCII as they are, also before the body has begun", async () => {
    let finish = () => {}
    const upstreamPort = await listen((_, response) => {
      response.writeHead(200, "\xfcber", ["X-Latin", "\xe9", "X-Utf8", "\xc3\xa9"])
      response.write(new Uint8Array(0))
      finish = () => response.end("done")
    })
    const { port } = await proxyTo(`http://127.0.0.1:${upstreamPort}`)
    const sent = httpRequest({ port, host: "127.0.0.1", path: "/proxy/local/x", headers: withKey }).end()
    const answer = await new Promise<IncomingMessage>((resolve) => sent.once("response", resolve))
    finish()
    expect(answer.statusMessage).toBe("\xfcber")
    expect(answer.headers).toMatchObject({ "x-latin": "\xe9", "x-utf8": "\xc3\xa9" })
    expect(String(await bodyOf(answer))).toBe("done")
  })

  it("passes a chunked body, HEAD, OPTIONS, 204 and 304", async () => {
    const { received, url } = await upstream((response, { method }) => {
      if (method === "OPTIONS") return void response.writeHead(204, { allow: "POST" }).end()
      if (method === "HEAD") return void response.writeHead(200, { "content-length": "1234" }).end()
      response.writeHead(304, { etag: '"e"' }).end()
    })
    const { port } = await proxyTo(url)
    const options = await send(port, "/proxy/local/x", { method: "OPTIONS", headers: withKey })
    expect([options.answer.statusCode, options.answer.headers["allow"]]).toEqual([204, "POST"])
    const head = await send(port, "/proxy/local/x", { method: "HEAD", headers: withKey })
    expect([head.answer.headers["content-length"], head.body.length]).toEqual(["1234", 0])
    const headers = { ...withKey, "transfer-encoding": "chunked" }
    const get = await send(port, "/proxy/local/x", { method: "PUT", headers, body: "chunked" })
    expect([get.answer.statusCode, get.answer.headers["etag"]]).toEqual([304, '"e"'])
    expect(String(received.at(-1)!.body)).toBe("chunked")
    expect(received.at(-1)!.headers).toContainEqual(["Transfer-Encoding", "chunked"])
  })

  it("streams both ways: the response begins before the request ends", async () => {
    const upstreamPort = await listen((message, response) => {
      response.writeHead(200)
      message.on("data", (chunk) => response.write(chunk)).on("end", () => response.end())
    })
    const { port } = await proxyTo(`http://127.0.0.1:${upstreamPort}`)
    const sent = httpRequest({ port, host: "127.0.0.1", path: "/proxy/local/echo", method: "POST", headers: withKey })
    const answer = new Promise<IncomingMessage>((resolve) => sent.once("response", resolve))
    sent.write("one")
    const received: Array<string> = []
    const next = async (chunks: AsyncIterator<Buffer>) => String((await chunks.next()).value)
    const chunks = (await answer)[Symbol.asyncIterator]() as AsyncIterator<Buffer>
    received.push(await next(chunks))
    sent.write("two")
    received.push(await next(chunks))
    sent.end()
    expect((await chunks.next()).done).toBe(true)
    expect(received).toEqual(["one", "two"])
  })

  it("passes 100 Continue and early hints back", async () => {
    const { url } = await upstream((response) => {
      response.writeEarlyHints({ link: "</a>; rel=preload" }, () => response.end("done"))
    })
    const { port } = await proxyTo(url)
    const headers = { ...withKey, expect: "100-continue", "content-length": "2" }
    const sent = httpRequest({ port, host: "127.0.0.1", path: "/proxy/local/x", method: "POST", headers })
    const information: Array<number> = []
    sent.on("information", ({ statusCode }) => information.push(statusCode)).once("continue", () => sent.end("{}"))
    const answer = await new Promise<IncomingMessage>((resolve) => sent.once("response", resolve))
    expect(String(await bodyOf(answer))).toBe("done")
    expect(information).toEqual([100, 103])
  })

  it("passes bytes of headers that are not ASCII as they are, also where the request waits for 100 Continue", async () => {
    const { received, url } = await upstream((response) => void response.end())
    const { port } = await proxyTo(url)
    const odd = "Zo\xeb \x80\xff"
    const lines = ["connection: close", "expect: 100-continue", "content-length: 2", `x-odd: ${odd}`]
    const head = ["POST /proxy/local/x HTTP/1.1", "host: x", `x-tachograph-key: ${apiKey}`, ...lines, "", "{}"]
    expect(await exchange(port, Buffer.from(head.join("\r\n"), "latin1"))).toMatch(/HTTP\/1.1 200 /)
    expect(received[0]!.headers).toContainEqual(["x-odd", odd])
  })
})

describe("a body that the host has touched", () => {
  /** A proxy behind what a host does to each request. */
  const behind = async (touch: (message: IncomingMessage) => void | Promise<void>) => {
    const { received, url } = await upstream((response) => void response.end())
    const tachograph = await opened({ proxy: { upstreams: { local: url } } })
    const { port } = await served(async (message, response) => {
      await touch(message)
      tachograph.node(message, response)
    })
    return { port, received }
  }
  const text = '{"a": 1.0, "b": "é"}'

  it.each([
    ["in rawBody", (bytes: Buffer) => ({ rawBody: bytes, body: JSON.parse(String(bytes)) })],
    ["as a buffer", (bytes: Buffer) => ({ body: bytes })],
    ["as a text", (bytes: Buffer) => ({ body: String(bytes) })]
  ])("passes if its bytes are kept %s", async (_name, kept) => {
    const { port, received } = await behind(async (message) => {
      Object.assign(message, kept(await bodyOf(message)))
    })
    await send(port, "/proxy/local/x", { headers: withKey, body: text })
    expect(String(received[0]!.body)).toBe(text)
    expect(received[0]!.headers).toContainEqual(["Content-Length", "21"])
  })

  it("passes if the host has only paused it", async () => {
    const { port, received } = await behind((message) => void message.pause())
    await send(port, "/proxy/local/x", { headers: withKey, body: text })
    expect(String(received[0]!.body)).toBe(text)
  })

  it.each<[name: string, touch: (message: IncomingMessage) => void | Promise<void>]>([
    [
      "parsed as JSON",
      async (message) => void Object.assign(message, { body: JSON.parse(String(await bodyOf(message))) })
    ],
    [
      "parsed as a form",
      async (message) => void Object.assign(message, { body: { text: String(await bodyOf(message)) } })
    ],
    [
      "read as a text that has lost bytes",
      async (message) => void Object.assign(message, { body: `${String(await bodyOf(message))}\ufffd` })
    ],
    ["read and dropped", async (message) => void (await bodyOf(message))],
    ["made a text that is still to come", (message) => void message.setEncoding("latin1")]
  ])("is refused if it was %s, because other bytes would pass", async (_name, touch) => {
    const { port, received } = await behind(touch)
    const { answer, body } = await send(port, "/proxy/local/x", { headers: withKey, body: text })
    expect([answer.statusCode, JSON.parse(String(body)).type]).toEqual([500, "body-parsed"])
    expect(received).toEqual([])
  })

  it("is empty if it was, whatever a parser made of it", async () => {
    const { port, received } = await behind(async (message) => {
      Object.assign(message, { body: (await bodyOf(message)).length === 0 ? {} : undefined })
    })
    for (const method of ["POST", "GET"]) {
      expect((await send(port, "/proxy/local/x", { method, headers: withKey })).answer.statusCode).toBe(200)
      expect(String(received.at(-1)!.body)).toBe("")
    }
  })
})
