import { describe, expect, it, vi } from "vitest"
import { Delivery } from "../../src/delivery/Delivery.ts"
import { createRecorder, type Drop, type RecorderOptions } from "../../src/index.ts"
import { apiKey, refuse, script, type Server, startServer } from "../Server.ts"

const open = async (options: Partial<RecorderOptions> = {}) => {
  const server = await startServer()
  const drops: Array<Drop> = []
  const onDrop = (drop: Drop) => void drops.push(drop)
  const recorder = createRecorder({ url: server.url, apiKey, onDrop, ...options } as RecorderOptions)
  const record = (count: number) => {
    for (let n = 0; n < count; n++) recorder.record({ api: "aisdk", inputs: { n }, output: { n }, session: "s" })
  }
  return { drops, record, recorder, server }
}

const numbers = async (server: Server) =>
  (await server.events()).map(({ properties }) => (properties.inputs as { n: number }).n).sort((a, b) => a - b)

const upTo = (count: number) => Array.from({ length: count }, (_, index) => index)

describe("delivery over HTTP", () => {
  it("sends each event once, with one key, over connections that are used again", async () => {
    const keys: Array<string | null> = []
    // What shares a request has its keys in the body.
    const watched: typeof fetch = (url, init) => {
      const text = typeof init!.body === "string" ? "" : new TextDecoder().decode(init!.body as Uint8Array<ArrayBuffer>)
      const own = new Headers(init!.headers).get("idempotency-key")
      if (own !== null) keys.push(own)
      else keys.push(...Array.from(text.matchAll(/^\{"idempotency_key":"(.+?)"/gm), ([, key]) => key!))
      return fetch(url, init)
    }
    const { record, recorder, server } = await open({ fetch: watched })
    const ports = new Set<number | undefined>()
    server.intercept = ({ socket }) => {
      ports.add(socket.remotePort)
      return false
    }
    record(100)
    expect(await recorder.flush()).toBe(true)
    expect(await numbers(server)).toEqual(upTo(100))
    expect(keys).toHaveLength(100)
    expect(new Set(keys).size).toBe(100)
    expect(server.requests.filter(({ path }) => path === "/api/v1/fingerprints")).toHaveLength(1)
    expect(ports.size).toBeLessThan(50)
  })

  it("loses nothing and repeats nothing while the server is away", async () => {
    const { drops, record, recorder, server } = await open()
    let isAway = true
    let attempts = 0
    const back = new Promise<void>((resolve) => {
      server.intercept = (request, response) => {
        if (!isAway) {
          if (request.url?.startsWith("/api/v1/events") !== true || attempts++ % 3 > 0) return false
          // Recorded, but the client does not hear of it.
          response.writeHead = (() => response.destroy()) as never
          return false
        }
        response.destroy()
        if (++attempts === 3) resolve()
        return true
      }
    })
    record(20)
    await back
    record(20)
    isAway = false
    expect(await recorder.flush()).toBe(true)
    expect(await numbers(server)).toEqual([...upTo(20), ...upTo(20)].sort((a, b) => a - b))
    expect(drops).toEqual([])
    expect(recorder.counters()).toMatchObject({ recorded: 40, sent: 40, waiting: 0, heldBytes: 0 })
    expect(recorder.counters().retried).toBeGreaterThan(3)
  })

  it.each([
    [503, "overloaded"],
    [503, "storage-unavailable"],
    [429, "too-many-requests"],
    [408, "timeout"],
    [500, "internal"],
    [502, "bad-gateway"]
  ])("repeats after %i %s", async (status, type) => {
    const { drops, record, recorder, server } = await open()
    server.intercept = script(
      refuse(status, type, { "retry-after": "0" }),
      refuse(status, type, { "retry-after": "0" })
    )
    record(3)
    expect(await recorder.flush()).toBe(true)
    expect(await numbers(server)).toEqual(upTo(3))
    expect(drops).toEqual([])
  })

  it.each([
    [401, "unauthorized"],
    [403, "forbidden"],
    [413, "payload-too-large"],
    [404, "not-found"],
    [501, "not-implemented"],
    [301, "moved"]
  ])("drops what is refused with %i %s", async (status, type) => {
    const { drops, record, recorder, server } = await open()
    server.intercept = script(refuse(status, type, { location: "/elsewhere" }))
    record(2)
    expect(await recorder.flush()).toBe(true)
    expect(await numbers(server)).toHaveLength(1)
    expect(drops).toMatchObject([{ reason: "refused", idempotencyKey: expect.any(String), cause: { status, type } }])
    expect(recorder.counters()).toMatchObject({ recorded: 2, sent: 1, dropped: { refused: 1 } })
  })

  it("gives up on one event that fails again and again, and not on the others", async () => {
    const { drops, record, recorder, server } = await open({ concurrency: 1 })
    let failing: unknown
    server.intercept = (request, response) => {
      if (request.url !== "/api/v1/events") return false
      failing ??= request.headers["idempotency-key"]
      return request.headers["idempotency-key"] === failing && refuse(500, "internal")(request, response)
    }
    record(2)
    expect(await recorder.flush()).toBe(true)
    expect(await numbers(server)).toEqual([1])
    expect(drops).toMatchObject([{ reason: "failed", cause: { status: 500 } }])
  })

  it.each([504, 599])("sends the others while one event is always answered with %i", async (status) => {
    const { drops, record, recorder, server } = await open()
    let isCured = false
    const attempts: Array<unknown> = []
    server.intercept = (request, response) => {
      const key = request.headers["idempotency-key"]
      if (isCured || request.url !== "/api/v1/events" || (attempts.length > 0 && key !== attempts[0])) return false
      attempts.push(key)
      return refuse(status, "")(request, response)
    }
    record(1)
    while (attempts.length < 2) await new Promise((resolve) => setTimeout(resolve, 1))
    record(50)
    while (recorder.counters().sent < 50) await new Promise((resolve) => setTimeout(resolve, 1))
    expect(recorder.counters()).toMatchObject({ waiting: 1, dropped: {} })
    isCured = true
    expect(await recorder.flush()).toBe(true)
    expect(await numbers(server)).toEqual([0, ...upTo(50)])
    expect(drops).toEqual([])
  })

  it("registers its fingerprint again where the server has lost it", async () => {
    const { drops, record, recorder, server } = await open()
    server.intercept = script(refuse(404, "fingerprint-not-found"))
    record(1)
    expect(await recorder.flush()).toBe(true)
    expect(server.requests.map(({ path }) => path)).toEqual([
      "/api/v1/fingerprints",
      "/api/v1/events",
      "/api/v1/fingerprints",
      "/api/v1/events"
    ])
    expect(drops).toEqual([])
  })

  it("holds no more events than it may", async () => {
    const { drops, record, recorder, server } = await open({ maxEvents: 5 })
    let release = () => {}
    const waiting: Array<() => void> = []
    const allHere = new Promise<void>((resolve) => (release = resolve))
    server.intercept = (request, response) => {
      if (request.url !== "/api/v1/fingerprints") return false
      waiting.push(() => refuse(503, "overloaded", { "retry-after": "0" })(request, response))
      release()
      return true
    }
    record(8)
    await allHere
    while (recorder.counters().waiting + drops.length < 8) await new Promise((resolve) => setTimeout(resolve, 1))
    expect(drops.map(({ reason }) => reason)).toEqual(["queue-full", "queue-full", "queue-full"])
    server.intercept = () => false
    for (const answer of waiting) answer()
    expect(await recorder.flush()).toBe(true)
    expect(await numbers(server)).toHaveLength(5)
  })

  it("drops an event that is larger than it may be", async () => {
    const { drops, recorder, server } = await open({ maxEventBytes: 1000 })
    recorder.record({ api: "aisdk", inputs: { text: "x".repeat(1000) }, output: {} })
    expect(await recorder.flush()).toBe(true)
    expect(drops).toMatchObject([{ reason: "too-large" }])
    expect(server.requests).toEqual([])
  })

  it("waits as long as a timer can where it is told to wait longer", async () => {
    const { record, recorder, server } = await open({ timeoutMs: Infinity, unreadMs: Infinity })
    let answer = () => {}
    const arrived = new Promise<void>((arrive) => {
      server.intercept = (request, response) => {
        if (request.url !== "/api/v1/events") return false
        server.intercept = () => false
        answer = () => refuse(503, "overloaded", { "retry-after": "0" })(request, response)
        arrive()
        return true
      }
    })
    record(1)
    const flushed = recorder.flush({ timeoutMs: Infinity })
    await arrived
    expect(await Promise.race([flushed, new Promise((resolve) => setTimeout(resolve, 20, "waiting"))])).toBe("waiting")
    answer()
    expect(await flushed).toBe(true)
  })

  it("says what the server finds wrong with an event, and repeats no value", async () => {
    const { drops, recorder } = await open()
    recorder.record({ api: "aisdk", inputs: {}, output: {}, session: "s", durationMs: -17.5 })
    await recorder.flush()
    expect(drops).toMatchObject([{ reason: "refused" }])
    expect(String(drops[0]!.cause)).toMatch(/:\d+ answered 422 body\.duration_ms [a-z_]+$/)
  })

  it.each([
    [401, "unauthorized", "URL refused the key in apiKey"],
    [403, "forbidden", "URL refused the key in apiKey, which needs the scope record"],
    [403, "waf", "URL answered 403 waf"],
    [404, "not-found", "nothing at URL answers as Tachograph does (404)"],
    [405, "", "nothing at URL answers as Tachograph does (405)"],
    [301, "moved", "nothing at URL answers as Tachograph does (301)"],
    [200, "welcome", "nothing at URL answers as Tachograph does (200)"]
  ])("says what is wrong where it is answered %i %s", async (status, type, message) => {
    const { drops, record, recorder, server } = await open()
    server.intercept = refuse(status, type)
    record(1)
    await recorder.flush()
    expect(drops).toMatchObject([{ cause: { message: message.replace("URL", server.url) } }])
    expect(recorder.counters().problem).toBe(message.replace("URL", server.url))
  })

  it.each(["/api/v1", "/api/v1/", "//"])("takes an address that ends in %s for that of the server", async (end) => {
    const server = await startServer()
    const recorder = createRecorder({ url: server.url + end, apiKey })
    recorder.record({ api: "aisdk", inputs: {}, output: {}, session: "s" })
    expect(await recorder.flush()).toBe(true)
    expect(await server.events()).toHaveLength(1)
    await recorder.api.getMe()
    expect(server.requests.at(-1)!.path).toBe("/api/v1/me")
  })

  it("reads no more of an answer than one of the server has", async () => {
    const { drops, record, recorder, server } = await open()
    const closed = new Promise((resolve) => {
      server.intercept = (_, response) => {
        const write = () => {
          while (response.write("x".repeat(100_000)));
        }
        response.on("drain", write).on("close", () => resolve(response.writableFinished))
        write()
        return true
      }
    })
    record(1)
    expect(await closed).toBe(false)
    await recorder.flush()
    expect(drops).toMatchObject([{ reason: "refused" }])
  })

  it("does not take the answer of something else for a receipt", async () => {
    const { drops, record, recorder, server } = await open()
    server.intercept = script(refuse(200, "welcome"))
    record(1)
    expect(await recorder.flush()).toBe(true)
    expect(drops).toMatchObject([{ reason: "refused", cause: { message: /answers as Tachograph does/ } }])
    expect(recorder.counters().sent).toBe(0)
  })

  it("waits in a flush for the calls that were over, though others keep coming", async () => {
    const { record, recorder, server } = await open({ concurrency: 1 })
    let requests = 0
    // Each answer brings the next call.
    server.intercept = ({ url }) => {
      if (url?.startsWith("/api/v1/events") === true && requests++ < 2_000) record(1)
      return false
    }
    record(5)
    expect(await recorder.flush()).toBe(true)
    expect(requests).toBeLessThan(100)
    server.intercept = () => false
    expect(await recorder.flush()).toBe(true)
  })

  it("says when a flush ended before everything was sent", async () => {
    const { record, recorder, server } = await open()
    server.intercept = refuse(503, "overloaded", { "retry-after": "60" })
    record(1)
    expect(await recorder.flush({ timeoutMs: 20 })).toBe(false)
    expect(recorder.counters()).toMatchObject({ waiting: 1, sent: 0 })
  })

  it("says in the counters why events wait, as JSON too", async () => {
    const { record, recorder, server } = await open()
    server.intercept = refuse(503, "overloaded", { "retry-after": "60" })
    record(1)
    await vi.waitFor(() => expect(recorder.counters().retried).toBe(1), { timeout: 60_000 })
    const counters = JSON.parse(JSON.stringify(recorder.counters())) as unknown
    expect(counters).toMatchObject({ problem: `${server.url} answered 503 overloaded` })
  })

  it("says which server cannot be reached, and that one does not speak TLS", async () => {
    const { server } = await open()
    const tls = server.url.replace("http:", "https:")
    for (const [url, problem] of [
      [tls, `${tls} does not speak TLS: is it http://?`],
      ["http://127.0.0.1:9", "http://127.0.0.1:9 cannot be reached: fetch failed: bad port"]
    ] as const) {
      const warn = vi.spyOn(console, "warn").mockImplementation(() => {})
      const recorder = createRecorder({ url, apiKey })
      recorder.record({ api: "aisdk", inputs: {}, output: {} })
      await vi.waitFor(() => expect(recorder.counters().problem).toBe(problem), { timeout: 60_000 })
      warn.mockRestore()
    }
  })

  it("leaves nothing behind of a flush that ended before everything was sent", async () => {
    const { record, recorder, server } = await open()
    server.intercept = refuse(503, "overloaded", { "retry-after": "60" })
    const idle = vi.spyOn(Delivery.prototype, "idle")
    record(1)
    for (let n = 0; n < 20; n++) expect(await recorder.flush({ timeoutMs: 1 })).toBe(false)
    expect(idle.mock.calls.length).toBeLessThanOrEqual(1)
    idle.mockRestore()
  })

  it("hands `waitUntil` a promise for each call, which waits until the call is sent", async () => {
    const promises: Array<Promise<unknown>> = []
    const { record, recorder, server } = await open({ waitUntil: (promise) => void promises.push(promise) })
    record(2)
    recorder.with({ waitUntil: () => {} }, () => record(1))
    expect(promises).toHaveLength(2)
    await Promise.all(promises)
    expect((await numbers(server)).length).toBeGreaterThanOrEqual(2)
  })
})
