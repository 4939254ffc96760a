/** What is too much, at the queue's limits and just past them. */
import { defaultWriterLimits, MemoryStorage, Storage, WriterLimits } from "@tachograph/core"
import { Deferred, Effect, Layer } from "effect"
import { afterEach, expect, it } from "vitest"
import { createTachograph, type Tachograph } from "../src/index.ts"

const key = "a key for what is too much"
const headers = { authorization: `Bearer ${key}`, "content-type": "application/json" }
const fingerprint = { language: "typescript", language_version: "7", system: "linux" }

let tachograph: Tachograph
const gate = () => Deferred.makeUnsafe<void>()
let open = gate()

afterEach(async () => {
  Deferred.doneUnsafe(open, Effect.void)
  await tachograph.close()
})

/** Whose storage keeps nothing until the gate is open. */
const start = async (limit: { readonly events: number; readonly bytes: number }) => {
  open = gate()
  const gated = Layer.effect(
    Storage,
    Effect.map(Storage, (storage) =>
      Storage.of({
        ...storage,
        appendEvents: (events) => Effect.andThen(Deferred.await(open), storage.appendEvents(events))
      })
    )
  ).pipe(Layer.provide(MemoryStorage.layer))
  // Long enough that nobody is refused for having waited.
  const queue = { ...limit, wait: 60_000 }
  const limits = Layer.succeed(WriterLimits, { ...defaultWriterLimits, queue })
  tachograph = await createTachograph({ storage: Layer.mergeAll(gated, limits), apiKeys: [key] })
  const fingerprint_id = await tachograph.fingerprint(fingerprint)
  const properties = { api: "aisdk", inputs: {}, output: {} }
  return JSON.stringify({ event_name: "llm", properties, fingerprint_id, session: "s" })
}

const send = (body: string) =>
  tachograph.fetch(new Request("http://localhost/api/v1/events", { method: "POST", headers, body }))

/** Says how long it will be, and sends nothing. */
const announce = (bytes: number) =>
  tachograph.fetch(
    new Request("http://localhost/api/v1/events", {
      method: "POST",
      headers: { ...headers, "content-length": String(bytes) },
      body: new ReadableStream(),
      duplex: "half"
    } as RequestInit)
  )

const settled = () => new Promise((resolve) => setTimeout(resolve, 50))

const expectRefused = async (response: Response) => {
  expect([response.status, await response.json()]).toEqual([503, { type: "overloaded" }])
  expect(Number(response.headers.get("retry-after"))).toBeGreaterThanOrEqual(1)
}

it("takes as many events at once as the queue does, and refuses one more before its body is read", async () => {
  const body = await start({ events: 3, bytes: Number.POSITIVE_INFINITY })
  const taken = [send(body), send(body), send(body)]
  await settled()
  await expectRefused(await announce(10))
  Deferred.doneUnsafe(open, Effect.void)
  expect((await Promise.all(taken)).map(({ status }) => status)).toEqual([200, 200, 200])
  expect((await send(body)).status).toBe(200)
})

it("takes as many bytes at once as the queue does, and refuses one more before it is read", async () => {
  const length = 4_000
  const body = (await start({ events: 100, bytes: 2 * length })).padEnd(length)
  const first = send(body)
  await settled()
  await expectRefused(await announce(length + 1))
  const second = send(body)
  await settled()
  await expectRefused(await announce(1))
  Deferred.doneUnsafe(open, Effect.void)
  expect([(await first).status, (await second).status]).toEqual([200, 200])
})

it("takes one event alone, however large", async () => {
  const body = await start({ events: 100, bytes: 1 })
  Deferred.doneUnsafe(open, Effect.void)
  expect((await send(body)).status).toBe(200)
})
