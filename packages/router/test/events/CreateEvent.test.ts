/** What is too much, at the queue's limits and just past them, on both ways into the lane. */
import { defaultCommitLimits, MemoryStorage, Storage, CommitLimits } from "@tachograph/core"
import { Deferred, Effect, Layer } from "effect"
import { gzipSync } from "node:zlib"
import { afterEach, describe, expect, it } from "vitest"
import { createTachograph, type Tachograph } from "../../src/index.ts"
import { apiKey, event, fingerprint } from "../Samples.ts"
import { announced, served } from "../Served.ts"

const headers = { authorization: `Bearer ${apiKey}`, "content-type": "application/json" }

let tachograph: Tachograph
const gate = () => Deferred.makeUnsafe<void>()
let open = gate()

afterEach(async () => {
  Deferred.doneUnsafe(open, Effect.void)
  await tachograph.close()
})

interface Limit {
  readonly events: number
  readonly bytes: number
  /** Milliseconds. Unless given, so long that nobody is refused for having waited. */
  readonly waitMs?: number
}

/** Whose storage keeps nothing until the gate is open. Answers the text of an event. */
const start = async (limit: Limit, maxBodyBytes = Number.POSITIVE_INFINITY) => {
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
  const queue = { waitMs: 60_000, ...limit }
  const limits = Layer.succeed(CommitLimits, { ...defaultCommitLimits, queue, maxBodyBytes })
  tachograph = await createTachograph({ storage: Layer.mergeAll(gated, limits), apiKeys: [apiKey] })
  return JSON.stringify(event(await tachograph.fingerprint(fingerprint)))
}

/** Sends an event, or says how long one will be and sends nothing of it. */
interface Way {
  readonly send: (body: string, encoding?: "gzip") => Promise<Response>
  readonly announce: (bytes: number, headers?: Record<string, string>, query?: string) => Promise<Response>
}

const url = "http://localhost/api/v1/events"

const post = (body: string, encoding?: "gzip") =>
  encoding === undefined
    ? new Request(url, { method: "POST", headers, body })
    : new Request(url, { method: "POST", headers: { ...headers, "content-encoding": encoding }, body: gzipSync(body) })

const ways: Record<string, () => Promise<Way>> = {
  fetch: async () => ({
    send: (body, encoding) => tachograph.fetch(post(body, encoding)),
    announce: (bytes, more, query = "") => {
      const body = { body: new ReadableStream(), duplex: "half" } as RequestInit
      const announcing = { ...headers, ...more, "content-length": String(bytes) }
      return tachograph.fetch(new Request(url + query, { method: "POST", headers: announcing, ...body }))
    }
  }),
  "node:http": async () => {
    const fetch = await served(tachograph.node)
    return {
      send: (body, encoding) => fetch(post(body, encoding)),
      announce: (bytes, more, query = "") => announced(fetch, `/api/v1/events${query}`, { ...headers, ...more }, bytes)
    }
  }
}

const pause = (milliseconds: number) => new Promise((resolve) => setTimeout(resolve, milliseconds))
const settled = () => pause(100)

const expectRefused = async (response: Response) => {
  expect([response.status, await response.json()]).toEqual([503, { type: "overloaded" }])
  expect(response.headers.get("retry-after")).toMatch(/^[123]$/)
}

describe.each(Object.entries(ways))("The lane over %s", (_, way) => {
  it("takes as many events at once as the queue does, and refuses one more before its body is read", async () => {
    const body = await start({ events: 3, bytes: Number.POSITIVE_INFINITY })
    const { announce, send } = await way()
    const taken = [send(body), send(body), send(body)]
    await settled()
    await expectRefused(await announce(10))
    // These are not plain, and come another way.
    await expectRefused(await announce(10, { "content-encoding": "gzip" }))
    await expectRefused(await announce(10, {}, "?a=b"))
    // Saturation comes before the key and the length: a refusal must cost little, and says nothing about the key.
    await expectRefused(await announce(10, { authorization: "Bearer no key" }))
    await expectRefused(await announce(2 ** 30))
    Deferred.doneUnsafe(open, Effect.void)
    expect((await Promise.all(taken)).map(({ status }) => status)).toEqual([200, 200, 200])
    expect((await send(body)).status).toBe(200)
  })

  it("takes as many bytes at once as the queue does, and refuses one more before it is read", async () => {
    const length = 4_000
    const body = (await start({ events: 100, bytes: 2 * length })).padEnd(length)
    const { announce, send } = await way()
    const first = send(body)
    await settled()
    await expectRefused(await announce(length + 1))
    const second = send(body)
    await settled()
    await expectRefused(await announce(1))
    Deferred.doneUnsafe(open, Effect.void)
    expect([(await first).status, (await second).status]).toEqual([200, 200])
  })

  it("takes nobody who would wait in vain", async () => {
    const wait = 4_000
    const body = await start({ events: 100, bytes: Number.POSITIVE_INFINITY, waitMs: wait })
    const { announce, send } = await way()
    // The second waits for the first, because both are of one session.
    const first = send(body)
    await settled()
    const second = send(JSON.stringify({ ...(JSON.parse(body) as object), session: "another" }))
    await pause(0.9 * wait)
    await expectRefused(await announce(10))
    await expectRefused(await announce(10, { authorization: "Bearer no key" }))
    Deferred.doneUnsafe(open, Effect.void)
    expect([(await first).status, (await second).status, (await send(body)).status]).toEqual([200, 200, 200])
  })

  it("holds as many bytes of bodies at once as it may, and refuses one that comes with more", async () => {
    const body = await start({ events: 100, bytes: Number.POSITIVE_INFINITY }, 40_000)
    const { send } = await way()
    const large = (length: number) => body.padEnd(length)
    const first = send(large(30_000))
    await settled()
    const second = send(large(10_000))
    await settled()
    await expectRefused(await send(body))
    await expectRefused(await send(body, "gzip"))
    Deferred.doneUnsafe(open, Effect.void)
    expect([(await first).status, (await second).status]).toEqual([200, 200])
    expect((await send(large(100_000), "gzip")).status).toBe(200)
  })

  it("takes one event alone, however large", async () => {
    const body = await start({ events: 100, bytes: 1 })
    const { send } = await way()
    Deferred.doneUnsafe(open, Effect.void)
    expect((await send(body)).status).toBe(200)
  })
})
