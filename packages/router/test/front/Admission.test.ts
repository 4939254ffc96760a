/** How much enters at once: at each limit, and just above it. */
import { describe, expect, it } from "vitest"
import { expectAnswer, type Fixture, fixtureOf } from "../Fixture.ts"
import type { Way } from "../Ways.ts"

/** Announces a body of this many bytes, and sends none of it. */
const announce = ({ send }: Fixture, bytes: number, headers: Record<string, string | undefined> = {}) =>
  send({ framing: "withheld", headers: { "content-length": String(bytes), ...headers } })

/**
 * Resolves when a body of this many bytes is not admitted. Sends no key: an admitted request is refused with 401, and so
 * does not add to what it waits for.
 */
const refuses = async (fixture: Fixture, bytes: number): Promise<void> => {
  const status = async () => (await announce(fixture, bytes, { authorization: undefined })).http?.status
  await expect.poll(status, { interval: 5 }).toBe(503)
}

const overloaded = { status: 503, body: { type: "overloaded" } }

const statuses = async (answers: ReadonlyArray<ReturnType<Fixture["send"]>>) =>
  (await Promise.all(answers)).map(({ http }) => http?.status)

const noLimit = Number.POSITIVE_INFINITY
const holds = ["appendEvents"] as const

describe.each(["node:http", "fetch"] satisfies ReadonlyArray<Way>)("Admission over %s", (way) => {
  it("admits as many events as the queue takes, and refuses another before its body is read", async () => {
    const fixture = await fixtureOf(way, { queue: { events: 3, bytes: noLimit }, holds })
    const { appends, send } = fixture
    const admitted = [send(), send(), send()]
    await refuses(fixture, 10)
    expectAnswer(await announce(fixture, 10), overloaded)
    expectAnswer(await announce(fixture, 10, { "content-encoding": "gzip" }), overloaded)
    expectAnswer(await send({ framing: "withheld", target: "/api/v1/events?a=b" }), overloaded)
    // Saturation is judged before the key and the length: the refusal is cheap, and says nothing about the key.
    expectAnswer(await announce(fixture, 10, { authorization: "Bearer unknown" }), overloaded)
    expectAnswer(await announce(fixture, 2 ** 30), overloaded)
    appends.open()
    expect(await statuses(admitted)).toEqual([200, 200, 200])
    expect(await statuses([send()])).toEqual([200])
  })

  it("admits as many bytes as the queue takes, and refuses another body before it is read", async () => {
    const length = 4_000
    const fixture = await fixtureOf(way, { queue: { events: 100, bytes: 2 * length }, holds })
    const { appends, send } = fixture
    const body = fixture.body.padEnd(length)
    const first = send({ body })
    await refuses(fixture, length + 1)
    expectAnswer(await announce(fixture, length + 1), overloaded)
    const second = send({ body })
    await refuses(fixture, 1)
    expectAnswer(await announce(fixture, 1), overloaded)
    appends.open()
    expect(await statuses([first, second])).toEqual([200, 200])
  })

  it("refuses an event that would time out in the queue", async () => {
    const fixture = await fixtureOf(way, { queue: { events: 100, bytes: noLimit, waitMs: 2_000 }, holds })
    const { appends, body, send } = fixture
    const first = send()
    await appends.arrived(1)
    // Waits for the batch of the first.
    const second = send({ body: body.replace('"in process"', '"another"') })
    await refuses(fixture, 10)
    expectAnswer(await announce(fixture, 10), overloaded)
    expectAnswer(await announce(fixture, 10, { authorization: "Bearer unknown" }), overloaded)
    appends.open()
    expect(await statuses([first, second])).toEqual([200, 200])
    expect(await statuses([send()])).toEqual([200])
  })

  it("admits bodies up to their budget, and refuses another", async () => {
    const fixture = await fixtureOf(way, {
      queue: { events: 100, bytes: noLimit },
      bodyBudgetBytes: 40_000,
      holds
    })
    const { appends, body, send } = fixture
    const first = send({ body: body.padEnd(30_000) })
    await refuses(fixture, 10_001)
    const second = send({ body: body.padEnd(10_000) })
    await refuses(fixture, 1)
    expectAnswer(await send(), overloaded)
    expectAnswer(await send({ framing: "chunked" }), overloaded)
    appends.open()
    expect(await statuses([first, second])).toEqual([200, 200])
    expect(await statuses([send({ body: body.padEnd(100_000), framing: "chunked" })])).toEqual([200])
  })

  it("admits one event alone, whatever its length", async () => {
    const { send } = await fixtureOf(way, { queue: { events: 100, bytes: 1 } })
    expect(await statuses([send()])).toEqual([200])
  })
})

describe.each(["node:http, gzip", "fetch, gzip"] satisfies ReadonlyArray<Way>)("Admission over %s", (way) => {
  it("counts decompressed bytes against the budget of all bodies, and admits one body alone", async () => {
    const fixture = await fixtureOf(way, {
      queue: { events: 100, bytes: noLimit },
      bodyBudgetBytes: 40_000,
      holds
    })
    const { appends, body, holdOne, send } = fixture
    await holdOne({ body: body.padEnd(30_000) })
    expectAnswer(await send({ body: body.padEnd(10_001) }), overloaded)
    const second = send({ body: body.padEnd(10_000) })
    await refuses(fixture, 1)
    appends.open()
    expect(await statuses([second])).toEqual([200])
    expect(await statuses([send({ body: body.padEnd(100_000) })])).toEqual([200])
  })
})
