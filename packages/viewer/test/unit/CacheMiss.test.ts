import { describe, expect, it } from "vitest"
import { lostOf, missOf, sentBeforeOf } from "../../app/pages/session/CacheMiss.ts"
import type { Call } from "../../app/server/Types.ts"

const none = {
  model: "m",
  tools_changed: false,
  instructions_changed: false,
  parameters_changed: false,
  gone_messages: [],
  input_prices: { input_mtok: 3, cache_read_mtok: 0.3, cache_write_mtok: 3.75 }
}

/** Tokens that are neither read nor written, those that are, and those of the output. */
const call = (fresh: number, read: number, write: number, output: number, fields: object = {}): Call =>
  ({
    ...none,
    input_tokens: fresh + read + write,
    cache_read_tokens: read,
    cache_write_tokens: write,
    output_tokens: output,
    ...fields
  }) as unknown as Call

describe("missOf", () => {
  const parent = call(0, 10_000, 0, 1)

  it("is the tokens that were sent before and not read from the cache, and what they cost more", () => {
    const missed = call(1_000, 0, 10_000, 5)
    const miss = missOf(missed, parent, 1_000)!
    expect(miss).toEqual({ tokens: 10_000, reason: "unknown" })
    expect(lostOf(miss, missed)).toBeCloseTo(0.0345, 9)
    expect(lostOf(miss, call(11_000, 0, 0, 5))).toBeCloseTo(0.027, 9)
    expect(lostOf(miss, { ...missed, cache_write_tokens: 4_000 })).toBeCloseTo(0.03, 9)
  })

  it("says no loss where the list does not", () => {
    const miss = { tokens: 10_000, reason: "unknown" } as const
    expect(lostOf(miss, call(11_000, 0, 0, 5, { input_prices: null }))).toBeUndefined()
    const input_prices = { input_mtok: 3, cache_read_mtok: null, cache_write_mtok: 3 }
    expect(lostOf(miss, call(11_000, 0, 0, 5, { input_prices }))).toBeUndefined()
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
