/** Limits of size and time: requests at each limit and just above it. */
import { existsSync, readFileSync, writeFileSync } from "node:fs"
import { brotliCompressSync, deflateSync, gzipSync, zstdCompressSync } from "node:zlib"
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { startServer } from "../CommandLine.ts"
import { exchange, open, stall } from "../RawSocket.ts"
import { type Running, serve } from "../TachographProcess.ts"

const key = "a key for the limits"
const env = { TACHOGRAPH_API_KEY: key }
const headers = { authorization: `Bearer ${key}`, "content-type": "application/json" }
const limit = 32 * 1024 * 1024
const otherLimit = 1024 * 1024

const call = async (
  url: string,
  target: string,
  body: string | Uint8Array | ReadableStream,
  more: Record<string, string> = {}
) => {
  const [method, path] = target.split(" ") as [string, string]
  const init = { method, headers: { ...headers, ...more }, body, duplex: "half" }
  const response = await fetch(`${url}/api/v1/${path}`, init as RequestInit)
  return { status: response.status, body: (await response.json()) as Record<string, string | undefined> }
}

const targets = { event: "POST events", agent: "PUT agents" } as const
type Kind = keyof typeof targets

/** A valid body of exactly `bytes` bytes. */
const bodyOf = (kind: Kind, bytes: number, fingerprint_id = "") => {
  const properties = { api: "aisdk", inputs: {}, output: {} }
  const event = { event_name: "llm", properties, fingerprint_id, session: "s" }
  const object = kind === "event" ? event : { agent_name: "sized" }
  const [start, end] = [`${JSON.stringify(object).slice(0, -1)},"x":"`, `"}`]
  return start + "x".repeat(bytes - start.length - end.length) + end
}

const fingerprintOf = async (url: string) => {
  const fields = { language: "javascript", language_version: "24", system: "linux" }
  return (await call(url, "PUT fingerprints", JSON.stringify(fields))).body.fingerprint_id!
}

const send = async (
  url: string,
  kind: Kind,
  body: string | Uint8Array | ReadableStream,
  more: Record<string, string> = {}
) => {
  const answer = await call(url, targets[kind], body, more)
  return [answer.status, answer.body.type]
}

const tooLarge = [413, "payload-too-large"]

/** A chunked body of `bytes` bytes, without a Content-Length. */
const chunks = (bytes: number) =>
  new ReadableStream({
    pull: (controller) => {
      if (bytes <= 0) return controller.close()
      bytes -= 65_536
      controller.enqueue(new Uint8Array(65_536).fill(120))
    }
  })

describe("An incomplete body", () => {
  it("does not keep other clients from recording, however large its Content-Length is", async () => {
    const server = await startServer(["--storage", "memory:"], env)
    const fingerprintId = await fingerprintOf(server.url)
    const slow = await stall(server.url, key, { method: "POST", path: "/api/v1/events", bytes: limit })
    expect(await send(server.url, "event", bodyOf("event", 1_000, fingerprintId))).toEqual([200, undefined])
    slow.close()
  })
})

/** Starts a server for all tests of a `describe`. */
const sharedServer = (...args: ReadonlyArray<string>) => {
  let server: Running
  beforeAll(async () => {
    server = await serve(["--port", "0", "--storage", "memory:", ...args], { env })
  })
  afterAll(async () => {
    await server.stop()
  })
  return () => server
}

describe("Size", () => {
  const server = sharedServer()
  const small = sharedServer("--max-body", "64KiB", "--max-other-body", "16KiB")

  const statusFile = () => `/proc/${server().pid}/status`
  const memory = (name: "VmHWM" | "VmRSS") =>
    1024 * Number(new RegExp(`${name}:\\s+(\\d+)`).exec(readFileSync(statusFile(), "utf8"))![1])

  /** By how much the memory of the server process grows at most while this runs, in bytes; 0 except on Linux. */
  const growth = async (run: () => Promise<unknown>) => {
    if (!existsSync(statusFile())) return run().then(() => 0)
    // The peak begins again at what the process holds: also what is garbage of the request before, which it collects when it likes.
    writeFileSync(`/proc/${server().pid}/clear_refs`, "5")
    const before = memory("VmRSS")
    await run()
    return memory("VmHWM") - before
  }

  it("rejects bodies above 32 MiB, with at most twice that much memory", async () => {
    // 100 gzip members of 100 million zeros: 10 MB that expand to 10 GB. Compressed before the first request, because the
    // server closes connections that are idle for 5 s.
    const member = gzipSync(Buffer.alloc(100_000_000))
    const bomb = Buffer.concat(Array.from({ length: 100 }, () => member))
    expect(bomb.length).toBeLessThan(limit)
    for (let n = 0; n < 20; n++) await send(server().url, "agent", bodyOf("agent", 1_000))
    const announced = bodyOf("event", limit + 1)
    for (const refused of [
      () => send(server().url, "event", announced),
      () => send(server().url, "event", chunks(100_000_000)),
      () => send(server().url, "event", bomb, { "content-encoding": "gzip" })
    ]) {
      expect(await growth(async () => expect(await refused()).toEqual(tooLarge))).toBeLessThanOrEqual(2 * limit)
    }
  })

  it("accepts events of 32 MiB and other bodies of 1 MiB, and one byte less, but not one byte more", async () => {
    const fingerprintId = await fingerprintOf(server().url)
    for (const [kind, max] of [
      ["event", limit],
      ["agent", otherLimit]
    ] as const) {
      expect(await send(server().url, kind, bodyOf(kind, max, fingerprintId))).toEqual([200, undefined])
      expect(await send(server().url, kind, bodyOf(kind, max - 1, fingerprintId))).toEqual([200, undefined])
      expect(await send(server().url, kind, bodyOf(kind, max + 1, fingerprintId))).toEqual(tooLarge)
    }
  })

  it.each([
    ["gzip", gzipSync],
    ["x-gzip", gzipSync],
    ["deflate", deflateSync],
    ["br", brotliCompressSync],
    ["zstd", zstdCompressSync],
    ["GZIP", gzipSync],
    ["identity", (body: string) => Buffer.from(body)]
  ])("applies the limits to the decompressed size of %s", async (encoding, compress) => {
    const fingerprintId = await fingerprintOf(small().url)
    const compressed = { "content-encoding": encoding }
    for (const [kind, max] of [
      ["event", 65_536],
      ["agent", 16_384]
    ] as const) {
      const sized = (bytes: number) =>
        send(small().url, kind, new Uint8Array(compress(bodyOf(kind, bytes, fingerprintId))), compressed)
      expect(await sized(max)).toEqual([200, undefined])
      expect(await sized(max + 1)).toEqual(tooLarge)
      const broken = new Uint8Array(compress(bodyOf(kind, 2_000, fingerprintId))).subarray(0, 20)
      expect((await send(small().url, kind, broken, compressed))[0]).toBe(422)
    }
  })

  it("decodes up to two encodings, and rejects more and unknown ones", async () => {
    const twice = new Uint8Array(gzipSync(brotliCompressSync(bodyOf("agent", 1_000))))
    expect(await send(server().url, "agent", twice, { "content-encoding": "br, gzip" })).toEqual([200, undefined])
    for (const encoding of ["gzip, gzip, gzip", "compress", "constructor", "gzip;q=1"]) {
      const answer = await send(server().url, "agent", bodyOf("agent", 100), { "content-encoding": encoding })
      expect(answer).toEqual([415, "unsupported-content-encoding"])
    }
  })
})

describe("Timeouts and connections", () => {
  const impatient = sharedServer("--request-timeout", "1s")

  it.concurrent.each([
    ["sends nothing", ""],
    ["stops in the middle of its headers", "GET /health HTTP/1.1\r\nHost: x\r\nX-Slow: "],
    [
      "stops in the middle of its body",
      `PUT /api/v1/agents HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${key}\r\nContent-Length: 100\r\n\r\n{"agent_name":`
    ]
  ])("disconnects a client that %s", async (_, bytes) => {
    const { closed, statuses } = await exchange(impatient().url, bytes)
    expect([closed, statuses]).toEqual([true, [408]])
    expect((await fetch(`${impatient().url}/health`)).status).toBe(200)
  })

  it("closes connections beyond --max-connections immediately", async () => {
    const server = await startServer(["--storage", "memory:", "--max-connections", "2"], env)
    const first = [open(server.url, "GET "), open(server.url, "GET ")]
    // The server accepts connections in the order in which they are established.
    await Promise.all(first.map(({ connected }) => connected))
    const third = await exchange(server.url, "GET /health HTTP/1.1\r\nHost: x\r\n\r\n")
    expect([third.closed, third.statuses]).toEqual([true, []])
    for (const connection of first) connection.close()
    // The server notices a moment later that the two connections are closed.
    const health = () =>
      fetch(`${server.url}/health`).then(
        ({ status }) => status,
        () => 0
      )
    await expect.poll(health).toBe(200)
  })

  it("accepts headers up to --max-header", async () => {
    const server = await startServer(["--storage", "memory:", "--max-header", "2KiB"], env)
    const get = (bytes: number) =>
      exchange(server.url, `GET /health HTTP/1.1\r\nHost: x\r\nConnection: close\r\nX: ${"a".repeat(bytes)}\r\n\r\n`)
    expect((await get(1_900)).statuses).toEqual([200])
    expect((await get(2_100)).statuses).toEqual([431])
  })
})

describe("CORS", () => {
  const preflight = async (url: string, origin: string) => {
    const response = await fetch(`${url}/api/v1/events`, {
      method: "OPTIONS",
      headers: { origin, "access-control-request-method": "POST", "access-control-request-headers": "authorization" }
    })
    return {
      status: response.status,
      allowed: response.headers.get("access-control-allow-origin"),
      methods: response.headers.get("access-control-allow-methods")
    }
  }

  it("allows only the origin of --cors", async () => {
    const closed = await startServer(["--storage", "memory:"], env)
    expect(await preflight(closed.url, "https://app.example")).toEqual({ status: 204, allowed: null, methods: null })
    const open = await startServer(["--storage", "memory:", "--cors", "https://app.example"], env)
    expect(await preflight(open.url, "https://app.example")).toEqual({
      status: 204,
      allowed: "https://app.example",
      methods: "GET, PUT, POST, DELETE"
    })
    // The browser compares the allowed origin with its own.
    expect((await preflight(open.url, "https://evil.example")).allowed).not.toBe("https://evil.example")
    const answer = await fetch(`${open.url}/health`, { headers: { origin: "https://app.example" } })
    expect(answer.headers.get("access-control-allow-origin")).toBe("https://app.example")
    expect(answer.headers.get("access-control-expose-headers")).toBe(
      "Idempotent-Replayed,Retry-After,Tachograph-Ignored,X-Request-Id"
    )
  })
})
