/** Requests that two parsers could interpret differently, sent as raw bytes over their own connection. */
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { exchange, open } from "../RawSocket.ts"
import { type Running, serve } from "../TachographProcess.ts"

const key = "a key for raw requests"
const host = "Host: x\r\n"
const authorization = `Authorization: Bearer ${key}\r\n`
const body = `{"agent_name":"raw"}`
const chunked = `14\r\n${body}\r\n0\r\n\r\n`

const get = (target: string, headers = host, version = "HTTP/1.1") => `GET ${target} ${version}\r\n${headers}\r\n`
const put = (headers: string, sent: string) =>
  `PUT /api/v1/agents HTTP/1.1\r\n${host}${authorization}Content-Type: application/json\r\n${headers}\r\n${sent}`
const length = `Content-Length: ${body.length}\r\n`
const te = (coding: string) => `Transfer-Encoding: ${coding}\r\n`

/** Rejected with this status, and the connection is closed. */
const rejected: Readonly<Record<string, readonly [bytes: string, status: number]>> = {
  "Content-Length beside Transfer-Encoding": [put(length + te("chunked"), chunked), 400],
  "Transfer-Encoding beside Content-Length": [put(te("chunked") + length, chunked), 400],
  "two equal Content-Lengths": [put(length + length, body), 400],
  "two different Content-Lengths": [put(`${length}Content-Length: 4\r\n`, body), 400],
  "a list as Content-Length": [put(`Content-Length: ${body.length}, ${body.length}\r\n`, body), 400],
  "a signed Content-Length": [put(`Content-Length: +${body.length}\r\n`, body), 400],
  "a negative Content-Length": [put("Content-Length: -1\r\n", body), 400],
  "a hexadecimal Content-Length": [put("Content-Length: 0x14\r\n", body), 400],
  "a transfer coding before chunked": [put(te("gzip, chunked"), chunked), 400],
  "a transfer coding after chunked": [put(te("chunked, identity"), chunked), 400],
  "identity as Transfer-Encoding": [put(te("identity"), body), 400],
  "an unknown Transfer-Encoding": [put(te("xchunked"), chunked), 400],
  "two Transfer-Encodings": [put(te("chunked") + te("chunked"), chunked), 400],
  "a chunk size that is not hexadecimal": [put(te("chunked"), `zz\r\n${body}\r\n0\r\n\r\n`), 400],
  "a space after a chunk size": [put(te("chunked"), `14 \r\n${body}\r\n0\r\n\r\n`), 400],
  "chunks terminated by bare LF": [put(te("chunked"), `14\n${body}\n0\n\n`), 400],
  "two Content-Types": [put(`Content-Type: text/plain\r\n${length}`, body), 400],
  "two Content-Encodings": [put(`Content-Encoding: gzip\r\nContent-Encoding: br\r\n${length}`, body), 400],
  "lines terminated by bare LF": ["GET /health HTTP/1.1\nHost: x\n\n", 400],
  "one line terminated by bare LF": ["GET /health HTTP/1.1\r\nHost: x\nX: y\r\n\r\n", 400],
  "lines terminated by bare CR": ["GET /health HTTP/1.1\rHost: x\r\r", 400],
  "a folded header": [get("/health", `${host}X: a\r\n b\r\n`), 400],
  "NUL in a header's value": [get("/health", `${host}X: a\0b\r\n`), 400],
  "NUL in a header's name": [get("/health", `${host}X\0: a\r\n`), 400],
  "a space before the colon": [get("/health", "Host : x\r\n"), 400],
  "chunks in HTTP/1.0": [
    put(te("chunked"), chunked)
      .replace("HTTP/1.1", "HTTP/1.0")
      .replace(te("chunked"), `Connection: keep-alive\r\n${te("chunked")}`),
    400
  ],
  "a malformed Host": [get("/health", "Host: a b/c@d\r\n"), 400],
  "a list as Host": [get("/health", "Host: a, b\r\n"), 400],
  "an absolute target with a user name": [get("http://u:p@x/health"), 400],
  CONNECT: [`CONNECT x:80 HTTP/1.1\r\n${host}\r\n`, 405],
  "two Idempotency-Keys": [put(`${length}Idempotency-Key: k\r\nIdempotency-Key: k\r\n`, body), 400],
  "two Authorization headers": [get("/api/v1/events", host + authorization + authorization), 401],
  "two Hosts": [get("/health", "Host: x\r\nHost: y\r\n"), 400],
  "no Host": [get("/health", ""), 400],
  "an absolute target for another host": [get("http://y/health"), 400],
  "an absolute target with another scheme": [get("ftp://x/health"), 400],
  "a space in the target": [get("/he alth"), 400],
  "a control character in the target": [get("/he\u0001alth"), 400],
  "non-ASCII bytes in the target": [get("/h\u00e9alth"), 400],
  "HTTP/0.9": ["GET /health\r\n\r\n", 400],
  "HTTP/2.0 in the format of HTTP/1.1": [get("/health", host, "HTTP/2.0"), 400],
  "a TLS handshake": ["\u0016\u0003\u0001\u0002\u0000\u0001\u0000\u0001\u00fc", 400],
  "an unknown expectation": [put(`Expect: miracles\r\n${length}`, body), 417],
  "a header larger than 16 KiB": [get("/health", `${host}X: ${"a".repeat(17_000)}\r\n`), 431],
  "a target larger than 16 KiB": [get(`/${"a".repeat(17_000)}`), 431],
  "2,500 headers": [get("/health", host + "A: bcdef\r\n".repeat(2_500)), 431]
}

/** Unambiguous requests, which are answered. The connection stays open. */
const accepted: Readonly<Record<string, readonly [bytes: string, statuses: ReadonlyArray<number>]>> = {
  "a plain request": [put(length, body), [200]],
  "a chunked request": [put(te("chunked"), chunked), [200]],
  "chunks with extensions and trailers": [put(te("chunked"), `14;x=y\r\n${body}\r\n0\r\nT: v\r\n\r\n`), [200]],
  "three pipelined requests, in order": [get("/health") + get("/nothing") + get("/ready"), [200, 404, 200]],
  "an absolute target for the same host": [get("http://x/health"), [200]],
  "a hash in the target, as an ordinary character": [
    put(length, body) +
      get("/api/v1/agents/raw", host + authorization) +
      get("/api/v1/agents/raw#b", host + authorization),
    [200, 200, 404]
  ],
  "an absolute target that names the default port": [get("http://x:80/health"), [200]],
  "a body that the endpoint does not expect": [
    `GET /health HTTP/1.1\r\n${host}Content-Length: 3\r\n\r\nabc${get("/health")}`,
    [200, 200]
  ],
  "an unsupported upgrade, which is ignored, in its turn": [
    put(length, body) + get("/health", `${host}Connection: Upgrade\r\nUpgrade: websocket\r\n`),
    [200, 200]
  ],
  "Expect: 100-continue": [put(`Expect: 100-continue\r\n${length}`, body), [100, 200]],
  "Expect: 100-continue with an invalid event": [
    put(`Expect: 100-continue\r\n${length}`, body).replace("PUT /api/v1/agents", "POST /api/v1/events"),
    [100, 422]
  ],
  "a header just below 16 KiB": [get("/health", `${host}X: ${"a".repeat(16_000)}\r\n`), [200]]
}

describe("Request framing", () => {
  let server: Running
  beforeAll(async () => {
    server = await serve(["--port", "0", "--storage", "memory:"], { env: { TACHOGRAPH_API_KEY: key } })
  })
  afterAll(async () => {
    await server.stop()
  })

  it.concurrent.each(Object.keys(rejected))("rejects %s and closes the connection", async (name) => {
    const [bytes, status] = rejected[name]!
    const { closed, statuses, text } = await exchange(server.url, bytes)
    expect({ statuses, closed }).toEqual({ statuses: [status], closed: true })
    expect(text).toMatch(/\r\n\r\n\{"type":"[a-z-]+"\}$/)
  })

  it.concurrent.each([
    ["CONNECT", ...rejected["CONNECT"]!],
    ["what is no HTTP", "no HTTP\r\n\r\n", 400],
    ["headers that are too large", ...rejected["a header larger than 16 KiB"]!]
  ] as const)("answers the requests before %s first, and then refuses it", async (_name, bytes, status) => {
    const { closed, statuses } = await exchange(server.url, put(length, body) + get("/health") + bytes)
    expect({ statuses, closed }).toEqual({ statuses: [200, 200, status], closed: true })
  })

  it.concurrent.each(Object.keys(accepted))("answers %s", async (name) => {
    const [bytes, expected] = accepted[name]!
    const connection = open(server.url, bytes)
    await connection.received(new RegExp(`^(?:HTTP/1\\.1 [^]*){${expected.length}}$`))
    connection.write(get("/ready", `${host}Connection: close\r\n`))
    const { closed, statuses } = await connection.finished
    expect({ statuses, closed }).toEqual({ statuses: [...expected, 200], closed: true })
  })

  it("answers HTTP/1.0 without a Host, and closes the connection", async () => {
    const { closed, statuses } = await exchange(server.url, get("/health", "", "HTTP/1.0"))
    expect({ statuses, closed }).toEqual({ statuses: [200], closed: true })
  })

  it("does not store a body that is shorter than its Content-Length", async () => {
    const cut = put(`Content-Length: ${body.length + 40}\r\n`, `{"agent_name":"cut"}`)
    expect((await exchange(server.url, cut, { half: true })).closed).toBe(true)
    const answer = await fetch(`${server.url}/api/v1/agents/cut`, { headers: { authorization: `Bearer ${key}` } })
    expect(answer.status).toBe(404)
  })

  it("responds to a client that has closed its side of the connection", async () => {
    const { closed, statuses } = await exchange(server.url, put(length, body), { half: true })
    expect({ statuses, closed }).toEqual({ statuses: [200], closed: true })
  })
})
