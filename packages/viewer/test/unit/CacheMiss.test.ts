import { describe, expect, it } from "vitest"
import { lostOf, missOf, sentBeforeOf } from "../../app/pages/session/CacheMiss.ts"
import { ratesOf } from "../../app/pages/session/Rates.ts"
import type { Call } from "../../app/server/Types.ts"

const none = {
  model: "m",
  tools_changed: false,
  instructions_changed: false,
  parameters_changed: false,
  gone_messages: [],
  price: "p",
  cost_usd: null
}

/** Dollars for a token. */
const rates = { fresh: 3e-6, read: 0.3e-6, write: 3.75e-6, output: 15e-6 }

/** Tokens that are neither read nor written, those that are, and those of the output. */
const call = (fresh: number, read: number, write: number, output: number, fields: object = {}): Call =>
  ({
    ...none,
    input_tokens: fresh + read + write,
    cache_read_tokens: read,
    cache_write_tokens: write,
    output_tokens: output,
    cost_usd: (fresh * rates.fresh + read * rates.read + write * rates.write + output * rates.output).toFixed(9),
    ...fields
  }) as unknown as Call

const session = [
  call(100, 0, 9_000, 50),
  call(20, 9_000, 700, 400),
  call(35, 9_700, 20, 10),
  call(7, 9_720, 900, 77),
  call(9, 0, 11_000, 90)
]

describe("ratesOf", () => {
  it("finds the rates by which the calls were priced", () => {
    const found = ratesOf(session).get("p")!
    expect(found.fresh! / rates.fresh).toBeCloseTo(1, 2)
    expect(found.cacheRead! / rates.read).toBeCloseTo(1, 3)
    expect(found.cacheWrite! / rates.write).toBeCloseTo(1, 3)
  })

  it("says nothing where calls do not tell: too few, or of several rates", () => {
    expect(ratesOf(session.slice(0, 2)).get("p")).toBeUndefined()
    const dearer = { ...session[4]!, cost_usd: "0.9" }
    expect(ratesOf([...session.slice(0, 4), dearer, session[4]!]).get("p")).toBeUndefined()
  })

  it("knows no rate of what no call has", () => {
    const uncached = [call(100, 0, 0, 10), call(300, 0, 0, 40), call(900, 0, 0, 20)]
    expect(ratesOf(uncached).get("p")?.cacheRead).toBeUndefined()
    expect(ratesOf(uncached).get("p")?.fresh).toBeDefined()
  })
})

describe("missOf", () => {
  const parent = call(0, 10_000, 0, 1)

  it("is the tokens that were sent before and not read from the cache, and what they cost more", () => {
    const missed = call(1_000, 0, 10_000, 5)
    const miss = missOf(missed, parent, 1_000)!
    expect(miss).toEqual({ tokens: 10_000, reason: "unknown" })
    const lost = lostOf(miss, missed, ratesOf(session).get("p"))!
    expect(lost).toBeCloseTo(10_000 * (rates.write - rates.read), 4)
    expect(lostOf(miss, missed, undefined)).toBeUndefined()
  })

  it("names the first thing that differs", () => {
    const reasonOf = (fields: object, gapMs = 0) => missOf(call(11_000, 0, 0, 5, fields), parent, gapMs)?.reason
    expect(reasonOf({ tools_changed: true, instructions_changed: true })).toBe("tools")
    expect(reasonOf({ model: "another", tools_changed: true })).toBe("model")
    expect(reasonOf({ instructions_changed: true, parameters_changed: true })).toBe("instructions")
    expect(reasonOf({ parameters_changed: true }, 400_000)).toBe("parameters")
    expect(reasonOf({}, 400_000)).toBe("time")
  })

  it("is not known where the history was rewritten, or a call does not say how much it sent", () => {
    expect(missOf(call(11_000, 0, 0, 5, { gone_messages: [1] }), parent, 0)).toBeUndefined()
    const silent = call(11_000, 0, 0, 5, { input_tokens: null })
    expect([missOf(silent, parent, 0), sentBeforeOf(silent, parent)]).toEqual([undefined, undefined])
    expect(sentBeforeOf(call(11_000, 0, 0, 5), { ...parent, input_tokens: null })).toBeUndefined()
    expect(sentBeforeOf(call(11_000, 0, 0, 5), parent)).toBe(10_000)
  })

  it("is none where most was read, where the call does not say, and for the first call", () => {
    expect(missOf(call(100, 9_000, 0, 5), parent, 0)).toBeUndefined()
    expect(missOf(call(11_000, 0, 0, 5, { cache_read_tokens: null }), parent, 0)).toBeUndefined()
    expect(missOf(call(11_000, 0, 0, 5), undefined, 0)).toBeUndefined()
  })
})
