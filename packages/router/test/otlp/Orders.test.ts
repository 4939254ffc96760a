/** In whatever order the spans and log records of a program come, each by itself, together, or several times, the same events are made of them. */
import { MemoryStorage, Storage } from "@tachograph/core"
import { SqliteStorage } from "@tachograph/storage-sqlite"
import { OtlpPosts, OtlpPrograms as Programs, RandomJson, TestSeed } from "@tachograph/testkit"
import { Clock, Effect, Layer, ManagedRuntime } from "effect"
import fc from "fast-check"
import { describe, expect, it, vi } from "vitest"
import { createTachograph } from "../../src/index.ts"

const key = "a key of twenty characters"
const headers = { authorization: `Bearer ${key}`, "content-type": "application/json" }

/** Longer than any test takes. */
const waitMs = 3_600_000

/** A clock that can be put forward. */
const makeClock = () => {
  let ahead = 0
  const now = () => Date.now() + ahead
  const clock: Clock.Clock = Object.assign(Object.create(Effect.runSync(Clock.Clock)) as Clock.Clock, {
    currentTimeMillisUnsafe: now,
    currentTimeMillis: Effect.sync(now)
  })
  return { layer: Layer.succeed(Clock.Clock, clock), putForward: (ms: number) => void (ahead += ms) }
}

/** What is made of posts that come one after the other, when nothing waits any more. */
const eventsOf = async (storage: Layer.Layer<Storage>, posts: Iterable<Programs.Post>) => {
  const runtime = ManagedRuntime.make(storage)
  const kept = await runtime.runPromise(Storage)
  const clock = makeClock()
  const tachograph = await createTachograph({
    storage: Layer.merge(Layer.succeed(Storage, kept), clock.layer),
    apiKeys: [key],
    otlpWaitMs: waitMs,
    thread: false
  })
  try {
    for (const { body, signal } of posts) {
      const init = { method: "POST", headers, body: JSON.stringify(body) }
      expect((await tachograph.fetch(new Request(`http://local/otlp/v1/${signal}`, init))).status).toBe(200)
    }
    clock.putForward(2 * waitMs)
    const left = () => runtime.runPromise(kept.countWaiting)
    await vi.waitFor(async () => expect(await left()).toBe(0), { timeout: 60_000, interval: 50 })
    const get = async (path: string) => (await tachograph.fetch(new Request(`http://local${path}`, { headers }))).text()
    return await Programs.eventsIn(get)
  } finally {
    await tachograph.close()
    await runtime.dispose()
  }
}

const storages = {
  memory: () => MemoryStorage.layer,
  SQLite: () => Layer.orDie(SqliteStorage.layer({ filename: ":memory:" }))
} as const

describe.each(Object.keys(storages) as ReadonlyArray<keyof typeof storages>)("over %s", (name) => {
  it(`makes the same events of any order, seed ${TestSeed.seed}`, { timeout: 240_000 }, async () => {
    const posts = Programs.posts()
    const expected = await eventsOf(storages[name](), posts)
    expect(expected.length).toBeGreaterThan(10)
    const single = posts.flatMap(Programs.split)
    // Each comes twice.
    const all = [...single, ...single]
    const order = fc.shuffledSubarray(Array.from(all.keys()), { minLength: all.length })
    await fc.assert(
      fc.asyncProperty(order, async (order) => {
        expect(
          await eventsOf(
            storages[name](),
            order.map((at) => all[at]!)
          )
        ).toEqual(expected)
      }),
      { seed: TestSeed.seed, numRuns: RandomJson.runs(4), endOnFailure: true }
    )
  })
})

it("a span that says nothing leads a call that waits to whose it is, also if it comes long after it", async () => {
  const [traceId, agentId, betweenId] = ["cd".repeat(16), "a1".repeat(8), "b1".repeat(8)]
  const agent = { "gen_ai.operation.name": "invoke_agent", "session.id": "of an agent" }
  const call = { "gen_ai.operation.name": "chat", "gen_ai.input.messages": "[]" }
  const post = (spanId: string, parentSpanId: string, attributes: object): Programs.Post => ({
    signal: "traces",
    body: OtlpPosts.traces([{ traceId, spanId, parentSpanId, attributes }])
  })
  const between = post(betweenId, agentId, { "http.request.method": "POST" })
  const posts = [post("c1".repeat(8), betweenId, call), between, post(agentId, "", agent)]
  expect(await eventsOf(MemoryStorage.layer, posts)).toEqual([expect.stringContaining(`["session","of an agent"]`)])
})
