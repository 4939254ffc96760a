/** A request ends at the upstream where it ended here: nothing in its body becomes a request of its own. */
import { describe, expect, it } from "vitest"
import { apiKey, opened } from "../Samples.ts"
import { exchange, served } from "../Served.ts"
import { proxyTo, send, withKey } from "./Client.ts"
import { rawUpstream, upstream } from "./Upstream.ts"

const smuggled = "GET /smuggled HTTP/1.1\r\nHost: x\r\n\r\n"
const hex = smuggled.length.toString(16)
const length = `content-length: ${smuggled.length}`
const chunked = "transfer-encoding: chunked"
const chunks = `${hex}\r\n${smuggled}\r\n0\r\n\r\n`

/** A request over a connection of its own. */
const text = (method: string, lines: ReadonlyArray<string>, body: string, version = "1.1") =>
  [`${method} /proxy/local/x HTTP/${version}`, "host: x", `x-tachograph-key: ${apiKey}`, ...lines, "", body].join(
    "\r\n"
  )

/** What the upstream receives of a request and, over the connections that it has left, of another one. */
const passed = async (sent: (port: number) => Promise<unknown>) => {
  const { received, url } = await upstream((response) => void response.end("ok"))
  const { port } = await proxyTo(url)
  const answer = await sent(port)
  await send(port, "/proxy/local/next", { method: "GET", headers: withKey })
  const requests = received.map(({ body, method, url }) => [method, url, String(body)])
  expect(requests.at(-1)).toEqual(["GET", "/next", ""])
  return { answer, requests: requests.slice(0, -1), received }
}

describe("the body of a request", () => {
  it.each([
    ["Connection names its length", ["connection: close, content-length", length], smuggled],
    [
      "Connection names its length in another line",
      ["connection: close", "connection: Content-Length", length],
      smuggled
    ],
    ["Connection names its coding", ["connection: close, transfer-encoding", chunked], chunks],
    [
      "Connection names both and the host",
      ["connection: close, host, content-length, transfer-encoding", length],
      smuggled
    ],
    ["its coding has odd case", ["connection: close", "Transfer-Encoding: cHuNkEd"], chunks],
    ["its chunks have extensions", ["connection: close", chunked], `${hex};a="b\\"c";d\r\n${smuggled}\r\n0;e=f\r\n\r\n`]
  ])("arrives whole if %s", async (_name, lines, body) => {
    for (const method of ["POST", "GET", "DELETE", "OPTIONS", "PUT", "PROPFIND"]) {
      const { answer, requests } = await passed((port) => exchange(port, text(method, lines, body)))
      expect(answer).toMatch(/^HTTP\/1.1 200 /)
      expect(requests).toEqual([[method, "/x", smuggled]])
    }
  })

  it.each([
    ["a length and a coding", [length, chunked], chunks],
    ["a coding and a length", [chunked, "content-length: 0"], chunks],
    ["two lengths", [length, "content-length: 0"], smuggled],
    ["the same length twice", [length, length], smuggled],
    ["a list of lengths", [`${length}, ${smuggled.length}`], smuggled],
    ["a signed length", [`content-length: +${smuggled.length}`], smuggled],
    ["a space after the name of the length", [length.replace(":", " :")], smuggled],
    ["two codings", [chunked, chunked], chunks],
    ["another coding", ["transfer-encoding: gzip, chunked"], chunks],
    ["no coding", ["transfer-encoding: identity"], smuggled],
    ["a coding that only looks like one", ["transfer-encoding: xchunked"], chunks],
    ["a coding in a folded line", ["transfer-encoding:", " chunked"], chunks],
    ["a length in a folded line", ["content-length:", ` ${smuggled.length}`], smuggled],
    ["a folded line", ["x-folded: a", " content-length: 0", length], smuggled],
    ["a chunk's length in another form", [chunked], `0x${chunks}`],
    ["a chunk that is longer than it says", [chunked], `${hex}\r\n${smuggled}x\r\n0\r\n\r\n`],
    ["a line that ends without a carriage return", [`x: y\n${length}`], smuggled]
  ])("is refused with %s", async (_name, lines, body) => {
    const { answer, requests } = await passed((port) =>
      exchange(port, text("POST", ["connection: close", ...lines], body))
    )
    expect(answer).toMatch(/^HTTP\/1.1 400 /)
    expect(requests).toEqual([])
  })
})

/** An answer of the upstream as it comes over the wire, and the text that the application gets. */
const answered = async (answer: string, request: string) => {
  const { port } = await proxyTo(await rawUpstream((socket) => void socket.end(answer)))
  return exchange(port, request)
}

const close = ["connection: close"]
const body = ["content-length: 2"]

describe("trailers", () => {
  it("of a request pass, but for what frames, routes or opens it", async () => {
    const trailers = [
      "x-sum: 42",
      "host: evil",
      "x-tachograph-key: k",
      "te: x",
      "content-type: x",
      "authorization: Bearer k",
      "cookie: k"
    ]
    const sent = text("POST", [...close, chunked, "trailer: x-sum"], `2\r\n{}\r\n0\r\n${trailers.join("\r\n")}\r\n\r\n`)
    const { received } = await passed((port) => exchange(port, sent))
    expect([received[0]!.trailers, String(received[0]!.body)]).toEqual([["x-sum", "42"], "{}"])
  })

  it.each(["content-length: 1", "transfer-encoding: chunked"])("of a request cannot frame it: %s", async (line) => {
    const sent = text("POST", [...close, chunked], `2\r\n{}\r\n0\r\n${line}\r\n\r\n`)
    const { answer, requests } = await passed((port) => exchange(port, sent))
    expect(answer).toMatch(/^HTTP\/1.1 400 /)
    expect(requests).toEqual([])
  })

  it("that are announced and cannot come end neither a request nor a process", async () => {
    const sent = text("POST", [...close, ...body, "trailer: x-sum"], "{}")
    const { answer, received } = await passed((port) => exchange(port, sent))
    expect(answer).toMatch(/^HTTP\/1.1 200 /)
    expect(received[0]!.headers.map(([name]) => name.toLowerCase())).not.toContain("trailer")
  })

  it.each([
    ["with a length", "POST", "1.1", "200 OK", "content-length: 2", "{}"],
    ["to HEAD", "HEAD", "1.1", "200 OK", "transfer-encoding: chunked", ""],
    ["without a body", "POST", "1.1", "304 Not Modified", "transfer-encoding: chunked", ""],
    ["to HTTP/1.0", "POST", "1.0", "200 OK", "transfer-encoding: chunked", "2\r\n{}\r\n0\r\nx-sum: 42\r\n\r\n"]
  ])(
    "that are announced and cannot come do not end an answer %s",
    async (_name, method, version, status, line, rest) => {
      const answer = `HTTP/1.1 ${status}\r\nTrailer: x-sum\r\nX-Kept: yes\r\n${line}\r\n\r\n${rest}`
      const lines = method === "HEAD" ? close : [...close, ...body]
      const got = await answered(answer, text(method, lines, method === "HEAD" ? "" : "{}", version))
      expect(got).toMatch(new RegExp(`^HTTP/1.1 ${status}\r\nX-Kept: yes\r\n`))
      expect(got).toMatch(rest === "" ? /\r\n\r\n$/ : /\r\n\r\n\{\}$/)
    }
  )

  it("of an answer pass, but for what frames it", async () => {
    const trailers = "x-sum: 42\r\ncontent-type: x\r\nproxy-connection: x\r\nset-cookie: x\r\n"
    const answer = `HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\n{}\r\n0\r\n${trailers}\r\n`
    const got = await answered(answer, text("POST", [...close, ...body], "{}"))
    expect(got).toMatch(/\r\n\r\n2\r\n\{\}\r\n0\r\nx-sum: 42\r\n\r\n$/)
  })
})

describe("an answer", () => {
  it("keeps its length if Connection names it", async () => {
    const answer = "HTTP/1.1 200 OK\r\nConnection: content-length, x-hop\r\nX-Hop: 1\r\nContent-Length: 2\r\n\r\n{}"
    const got = await answered(answer, text("POST", [...close, ...body], "{}"))
    expect(got).toBe("HTTP/1.1 200 OK\r\nContent-Length: 2\r\nConnection: close\r\n\r\n{}")
  })

  it.each([
    ["two lengths", "Content-Length: 2\r\nContent-Length: 3"],
    ["a length and a coding", "Content-Length: 2\r\nTransfer-Encoding: chunked"],
    ["a folded line", "X: a\r\n Content-Length: 3"],
    ["a coding that was not asked for", "Transfer-Encoding: gzip"],
    [
      "a coding that was not asked for, in chunks",
      "Transfer-Encoding: gzip, chunked",
      "200 OK",
      "2\r\n{}\r\n0\r\n\r\n"
    ],
    ["a coding twice", "Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked", "200 OK", "2\r\n{}\r\n0\r\n\r\n"],
    ["a status below those of HTTP", "Content-Length: 2", "099 Odd"],
    ["a status of two digits", "Content-Length: 2", "20 Odd"],
    ["a status of four digits", "Content-Length: 2", "1000 Odd"],
    ["a reason that cannot be written", "Content-Length: 2", "200 a\x01b"]
  ])("with %s is 502", async (_name, lines, status = "200 OK", rest = "{}") => {
    const got = await answered(`HTTP/1.1 ${status}\r\n${lines}\r\n\r\n${rest}`, text("POST", [...close, ...body], "{}"))
    expect(got).toMatch(/^HTTP\/1.1 502 /)
    expect(got).toContain('{"type":"upstream-unreachable"')
  })

  it("with an unknown status passes", async () => {
    const lines = "Content-Length: 2\r\nConnection: close\r\n\r\n{}"
    const got = await answered(`HTTP/1.1 999 Denied\r\n${lines}`, text("POST", [...close, ...body], "{}"))
    expect(got).toBe(`HTTP/1.1 999 Denied\r\n${lines}`)
  })
})

describe("a host whose parser is lenient", () => {
  it.each([
    ["headers that cannot be sent", [...close, ...body, "x: \x01"], "{}", 502],
    ["trailers that cannot be sent", [...close, chunked], "2\r\n{}\r\n0\r\nx: \x01\r\n\r\n", 200],
    ["a length and a coding", [...close, length, chunked], chunks, 200]
  ])("does not end with %s", async (_name, lines, sent, status) => {
    const { received, url } = await upstream((response) => void response.end("ok"))
    const tachograph = await opened({ proxy: { upstreams: { local: url } } })
    const { port } = await served(tachograph.node, { insecureHTTPParser: true })
    expect(await exchange(port, text("POST", lines, sent))).toMatch(new RegExp(`^HTTP/1.1 ${status} `))
    await send(port, "/proxy/local/next", { method: "GET", headers: withKey })
    expect(received.map(({ url }) => url)).toEqual(status === 200 ? ["/x", "/next"] : ["/next"])
    expect(received[0]!.headers.map(([name]) => name.toLowerCase())).not.toContain("content-length")
  })
})

describe("an answer before the answer", () => {
  const ok = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}"
  const links = ["</a>; rel=preload; as=style", "</b>; rel=preload"]

  it.each([
    ["103 with a link", [`103 Early Hints\r\nLink: ${links[0]}`], [links.slice(0, 1)]],
    ["103 with links in two headers", [`103 Early Hints\r\nLink: ${links[0]}\r\nX: y\r\nLink: ${links[1]}`], [links]],
    ["103 with links in one header", [`103 Early Hints\r\nLink: ${links.join(", ")}`], [links]],
    ["103 with a link in no known form", ["103 Early Hints\r\nLink: a b; c"], []],
    ["103 with an empty link", ["103 Early Hints\r\nLink:"], []],
    ["103 without a link", ["103 Early Hints"], []],
    ["103 with a length", ["103 Early Hints\r\nContent-Length: 5"], []],
    ["several", ["102 Processing", "103 Early Hints\r\nLink: </a>", "102 Processing"], [[], ["</a>"], []]],
    ["100 that was not asked for", ["100 Continue"], []],
    ["104", ["104 Upload Resumption Supported\r\nLink: </a>"], []],
    ["199", ["199 Odd"], []]
  ])("passes, if it can: %s", async (_name, heads, passed) => {
    const early = heads.map((head) => `HTTP/1.1 ${head}\r\n\r\n`).join("")
    const got = await answered(early + ok, text("POST", [...close, ...body], "{}"))
    const expected = passed.map((each) =>
      each.length === 0 ? "102 Processing" : `103 Early Hints\r\nLink: ${each.join(", ")}`
    )
    const whole = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\nConnection: close\r\n\r\n{}"
    expect(got).toBe(expected.map((head) => `HTTP/1.1 ${head}\r\n\r\n`).join("") + whole)
    // HTTP/1.0 has none.
    expect(await answered(early + ok, text("POST", [...close, ...body], "{}", "1.0"))).toBe(whole)
  })

  it("is 502 if it changes the protocol, which was not asked for", async () => {
    const early = "HTTP/1.1 101 Switching Protocols\r\nConnection: upgrade\r\nUpgrade: h2c\r\n\r\n"
    expect(await answered(early, text("POST", [...close, ...body], "{}"))).toMatch(/^HTTP\/1.1 502 /)
  })
})
