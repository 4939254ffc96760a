import fc from "fast-check"
import { describe, expect, it } from "vitest"
import { makeUuid7 } from "../../src/record/EventIds.ts"

const uuid7 = /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/
const millisOf = (uuid: string) => Number.parseInt(uuid.replace("-", "").slice(0, 12), 16)

describe("makeUuid7", () => {
  it("grows with every id, whatever the clock does", () => {
    const anyClock = fc.array(fc.integer({ min: 0, max: 2 ** 48 - 2 ** 20 }), { minLength: 2, maxLength: 200 })
    fc.assert(
      fc.property(anyClock, (clock) => {
        const next = makeUuid7()
        const ids = clock.map((millis, n) => next(millis, 255 - (n % 256)))
        expect([...ids].sort()).toEqual(ids)
        expect(new Set(ids).size).toBe(ids.length)
      })
    )
  })

  it("says the time that it was told", () => {
    const next = makeUuid7()
    for (const millis of [0, 1, 1_767_323_045_678, 2 ** 47]) {
      const id = next(millis, 7)
      expect(id).toMatch(uuid7)
      expect(millisOf(id)).toBe(millis)
    }
  })

  it("borrows from the next millisecond when one is used up", () => {
    const next = makeUuid7()
    const ids = Array.from({ length: 10_000 }, () => next(1_000_000, 0))
    expect([...ids].sort()).toEqual(ids)
    expect(new Set(ids).size).toBe(ids.length)
    expect(millisOf(ids.at(-1)!)).toBeLessThan(1_000_005)
    expect(ids.every((id) => uuid7.test(id))).toBe(true)
  })

  it("draws from a source that does not repeat", () => {
    const tails = Array.from({ length: 5_000 }, () => makeUuid7()(0, 0).slice(19))
    expect(new Set(tails).size).toBe(tails.length)
  })
})
