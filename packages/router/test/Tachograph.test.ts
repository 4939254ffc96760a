import { MemoryStorage, Retention, SessionCacheBytes, Storage } from "@tachograph/core"
import { sqlite } from "@tachograph/storage-sqlite"
import { HttpClient } from "@tachograph/testkit"
import { Effect, Layer, Logger } from "effect"
import { createServer } from "node:http"
import type { AddressInfo } from "node:net"
import { describe, expect, it } from "vitest"
import { createTachograph } from "../src/index.ts"
import { CloseGraceMs } from "../src/mounts/PendingCalls.ts"
import { served } from "./Served.ts"

const key = "an API key for tests"
const open = () => createTachograph({ storage: MemoryStorage.layer, apiKeys: [key] })
const fingerprint = { language: "typescript", language_version: "7", system: "linux" }
const event = (fingerprint_id: string, fields: object = {}) => ({
  event_name: "llm" as const,
  properties: { api: "openai-responses", inputs: { n: 1 }, output: {} },
  fingerprint_id,
  session: "in process",
  ...fields
})

describe("createTachograph", () => {
  it.each(["", "x", "nineteen characters", " a key with a space in front", "a key\nwith a line break", undefined])(
    "rejects %j as a static key",
    async (bad) => {
      const opening = createTachograph({ storage: MemoryStorage.layer, apiKeys: [key, bad as string] })
      await expect(opening).rejects.toThrow("apiKeys: expected static keys, each of 20 characters or more")
    }
  )

  it.each([
    ["storage: expected a storage", { storage: "tachograph.db" }],
    ["apiKeys: expected static keys", { storage: MemoryStorage.layer, apiKeys: key }],
    ["authorize: expected a function", { storage: MemoryStorage.layer, authorize: "me" }],
    ["login: needs authorize", { storage: MemoryStorage.layer, login: "/login" }],
    ["expected one of them", { storage: MemoryStorage.layer, authorize: () => null, apiKeys: [key] }]
  ])("rejects an invalid option: %s", async (message, options) => {
    await expect(createTachograph(options as never)).rejects.toThrow(message)
  })

  it.each(["//elsewhere.example", "/\\elsewhere.example", "login", "javascript:alert(1)", "", "/a b", 1])(
    "rejects %j as the place of the login",
    async (login) => {
      const options = { storage: MemoryStorage.layer, authorize: () => null, login }
      await expect(createTachograph(options as never)).rejects.toThrow("login: expected a path such as /login")
    }
  )

  it.each(["/login", "/in?to=%2Fviewer%2F#a", "https://app.example.com/login", undefined])(
    "says without a key that the application decides, and that people log in at %j",
    async (login) => {
      const tachograph = await createTachograph({ storage: MemoryStorage.layer, authorize: () => null, login })
      const response = await tachograph.fetch(new Request("http://localhost/api/v1/sign-in"))
      expect(await response.json()).toEqual({ by: "application", login: login ?? null, logout: null })
      await tachograph.close()
    }
  )

  it("rejects with the reason why the storage did not open", async () => {
    const opening = createTachograph({ storage: sqlite("/nowhere/at/all.db") })
    await expect(opening).rejects.toMatchObject({ type: "storage-unavailable", cause: expect.any(Error) })
    await expect(opening).rejects.toThrow("unable to open database file")
  })

  it("does not wait for a client that disconnected before its request was passed on", async () => {
    const tachograph = await createTachograph({ storage: MemoryStorage.layer, apiKeys: [key] })
    let markPassed = () => {}
    const passed = new Promise<void>((resolve) => (markPassed = resolve))
    const abort = new AbortController()
    const fetch = await served((request, response) => {
      response.once("close", () => {
        tachograph.node(request, response)
        markPassed()
      })
      abort.abort()
    })
    const request = fetch(new Request("http://localhost/health", { signal: abort.signal }))
    await expect(request).rejects.toThrow()
    await passed
    const startedMs = performance.now()
    await tachograph.close()
    expect(performance.now() - startedMs).toBeLessThan(5_000)
  })

  it("records in process, and reads the event over HTTP", async () => {
    const tachograph = await open()
    const client = HttpClient.make(tachograph.fetch, key)
    const id = await tachograph.fingerprint(fingerprint)
    const { body: created } = await client.put("/api/v1/fingerprints", fingerprint)
    expect(created.fingerprint_id).toBe(id)
    const receipt = await tachograph.record(event(id))
    const { body } = await client.get(`/api/v1/events/${receipt.event_id}`)
    expect(body).toMatchObject({ ...receipt, session: "in process", properties: { api: "provider1-responses" } })
    await tachograph.close()
  })

  it("records once with the same idempotency key, in process and over HTTP", async () => {
    const tachograph = await open()
    const id = await tachograph.fingerprint(fingerprint)
    const options = { idempotencyKey: "k" }
    const first = await tachograph.record(event(id), options)
    expect(await tachograph.record(event(id), options)).toEqual(first)
    const another = tachograph.record(event(id, { agent: "another" }), options)
    await expect(another).rejects.toMatchObject({ type: "idempotency-key-reused" })
    await expect(tachograph.record(event(id), { idempotencyKey: "" })).rejects.toMatchObject({
      type: "validation-error",
      detail: [{ type: "string_too_short", loc: ["header", "idempotency-key"] }]
    })
    // The same body with the same key, over HTTP.
    const headers = {
      authorization: `Bearer ${key}`,
      "content-type": "application/json",
      "idempotency-key": "k"
    }
    const body = JSON.stringify(event(id))
    const answer = await tachograph.fetch(
      new Request("http://localhost/api/v1/events", { method: "POST", headers, body })
    )
    expect([await answer.json(), answer.headers.get("idempotent-replayed")]).toEqual([first, "true"])
    await tachograph.close()
  })

  it("rejects invalid events in process, and stores nothing", async () => {
    const tachograph = await open()
    const id = await tachograph.fingerprint(fingerprint)
    const expectRejected = (fields: object, error: object) =>
      expect(tachograph.record(event(id, fields))).rejects.toMatchObject(error)
    await expectRejected({ session: "" }, { type: "session-id-empty" })
    await expectRejected({ fingerprint_id: "11111111-1111-4111-8111-111111111111" }, { type: "fingerprint-not-found" })
    await expectRejected({ session: "a\u0000" }, { type: "validation-error", detail: [{ loc: ["body", "session"] }] })
    await expectRejected({ duration_ms: -1 }, { type: "validation-error", detail: [{ loc: ["body", "duration_ms"] }] })
    await expectRejected(
      { properties: { api: "aisdk", inputs: "text", output: {} } },
      { detail: [{ type: "dict_type" }] }
    )
    const { body } = await HttpClient.make(tachograph.fetch, key).get("/api/v1/events?session=a")
    expect(body.events).toEqual([])
    await tachograph.close()
  })

  it("waits for requests in flight when it closes, and answers 503 afterwards", async () => {
    const tachograph = await createTachograph({ storage: sqlite(":memory:"), apiKeys: [key] })
    const client = HttpClient.make(tachograph.fetch, key)
    const id = await tachograph.fingerprint(fingerprint)
    const answers = Array.from({ length: 30 }, () => client.post("/api/v1/events", event(id)))
    const closing = tachograph.close()
    expect((await Promise.all(answers)).map(({ status }) => status)).toEqual(Array(30).fill(200))
    await closing
    await tachograph.close()
    const late = await client.get("/health")
    expect([late.status, late.headers.get("retry-after")]).toEqual([503, expect.stringMatching(/^[123]$/)])
  })

  it.each([
    [
      "ends after closing",
      (controller: ReadableStreamDefaultController, rest: Uint8Array) => {
        controller.enqueue(rest)
        controller.close()
      }
    ],
    ["never ends", () => {}]
  ])("answers 503 to a web request whose body %s", async (_, later) => {
    const storage = Layer.merge(sqlite(":memory:"), Layer.succeed(CloseGraceMs, 10))
    const tachograph = await createTachograph({ storage, apiKeys: [key] })
    const text = Buffer.from(JSON.stringify(event(await tachograph.fingerprint(fingerprint))))
    let controller!: ReadableStreamDefaultController
    const body = new ReadableStream({ start: (given) => void (controller = given) })
    const headers = { authorization: `Bearer ${key}`, "content-type": "application/json" }
    const init = { method: "POST", headers, body, duplex: "half" } as RequestInit
    const answering = tachograph.fetch(new Request("http://localhost/api/v1/events", init))
    controller.enqueue(text.subarray(0, 10))
    await tachograph.close()
    later(controller, text.subarray(10))
    const answer = await answering
    expect([answer.status, await answer.json()]).toEqual([503, { type: "storage-unavailable" }])
  })

  it("waits for requests in flight in a Node server, too", async () => {
    const tachograph = await createTachograph({ storage: sqlite(":memory:"), apiKeys: [key] })
    const server = createServer(tachograph.node)
    await new Promise<void>((done) => server.listen(0, "127.0.0.1", done))
    const client = HttpClient.make(HttpClient.at(`http://127.0.0.1:${(server.address() as AddressInfo).port}`), key)
    const id = await tachograph.fingerprint(fingerprint)
    let arrived = 0
    server.on("request", () => arrived++)
    const answers = Array.from({ length: 30 }, () => client.post("/api/v1/events", event(id)))
    while (arrived < 30) await new Promise(setImmediate)
    await tachograph.close()
    expect((await Promise.all(answers)).map(({ status }) => status)).toEqual(Array(30).fill(200))
    expect((await client.get("/health")).status).toBe(503)
    server.close()
  })

  it("runs retention that is added to the storage, and stops it with the storage", async () => {
    const retention = Retention.layer({ keep: "90 days" })
    const tachograph = await createTachograph({
      storage: retention.pipe(Layer.provideMerge(sqlite(":memory:"))),
      apiKeys: [key]
    })
    await tachograph.record(event(await tachograph.fingerprint(fingerprint)))
    await tachograph.close()
  })

  it("takes the size of the session cache with the storage", async () => {
    const readSessions = async (bytes: number) => {
      let times = 0
      const counting = Layer.effect(
        Storage,
        Effect.map(Storage, (storage) =>
          Storage.of({
            ...storage,
            getSessions: (...args) => Effect.tap(storage.getSessions(...args), () => Effect.sync(() => times++))
          })
        )
      ).pipe(Layer.provide(MemoryStorage.layer))
      const storage = Layer.merge(counting, Layer.succeed(SessionCacheBytes, bytes))
      const tachograph = await createTachograph({ storage, apiKeys: [key] })
      const id = await tachograph.fingerprint(fingerprint)
      for (let n = 0; n < 5; n++) await tachograph.record(event(id))
      await tachograph.close()
      return times
    }
    expect([await readSessions(0), await readSessions(1024 ** 2)]).toEqual([5, 1])
  })

  it("answers 500, not 422, if a result does not fit the contract", async () => {
    const broken = Layer.effect(
      Storage,
      Effect.map(Storage, (storage) =>
        Storage.of({
          ...storage,
          usage: () => Effect.succeed({ events: "many" } as never)
        })
      )
    ).pipe(Layer.provide(MemoryStorage.layer), Layer.provideMerge(Logger.layer([])))
    const tachograph = await createTachograph({ storage: broken, apiKeys: [key] })
    const { body, status } = await HttpClient.make(tachograph.fetch, key).get("/api/v1/storage")
    expect([status, body.type]).toEqual([500, "internal"])
    await tachograph.close()
  })

  it("accepts no empty key", async () => {
    const tachograph = await createTachograph({ storage: MemoryStorage.layer })
    for (const header of [undefined, ""]) {
      expect((await HttpClient.make(tachograph.fetch, header).get("/api/v1/events")).status).toBe(401)
    }
    await tachograph.close()
  })
})
