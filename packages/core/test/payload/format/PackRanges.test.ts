import fc from "fast-check"
import { describe, expect, it } from "vitest"
import * as PackRanges from "../../../src/payload/format/PackRanges.ts"

const range = fc.tuple(fc.integer({ min: 1, max: 60 }), fc.nat(5)).map(([from, more]) => ({ from, to: from + more }))
const ranges = fc.array(range, { maxLength: 12 })

const numbersIn = (ranges: PackRanges.PackRanges): ReadonlyArray<number> =>
  ranges.flatMap(({ from, to }) => Array.from({ length: to - from + 1 }, (_, index) => from + index))

const sorted = (numbers: Iterable<number>) => Array.from(new Set(numbers)).sort((a, b) => a - b)

/** Ascending, not empty, and not touching each other. */
const isNormal = (ranges: PackRanges.PackRanges) =>
  ranges.every(({ from, to }, index) => from <= to && (index === 0 || ranges[index - 1]!.to + 1 < from))

describe("PackRanges", () => {
  it("adds ranges to the union of sets", () => {
    fc.assert(
      fc.property(ranges, ranges, (one, two) => {
        const [a, b] = [one, two].map((ranges) => ranges.reduce(PackRanges.add, PackRanges.none)) as [
          PackRanges.PackRanges,
          PackRanges.PackRanges
        ]
        const both = PackRanges.union(a, b)
        for (const [ranges, from] of [
          [a, one],
          [b, two],
          [both, [...one, ...two]]
        ] as const) {
          expect(isNormal(ranges)).toBe(true)
          expect(numbersIn(ranges)).toEqual(sorted(numbersIn(from)))
        }
        expect([PackRanges.includes(both, a), PackRanges.includes(both, b)]).toEqual([true, true])
        const numbers = new Set(numbersIn(a))
        expect(PackRanges.includes(a, b)).toBe(numbersIn(b).every((number) => numbers.has(number)))
      })
    )
  })

  it("limits the number of ranges without losing a number", () => {
    fc.assert(
      fc.property(ranges, fc.integer({ min: 1, max: 8 }), (added, count) => {
        const ranges = added.reduce(PackRanges.add, PackRanges.none)
        const few = PackRanges.atMost(count, ranges)
        expect(few.length).toBeLessThanOrEqual(count)
        expect(isNormal(few)).toBe(true)
        const numbers = new Set(numbersIn(few))
        for (const number of numbersIn(ranges)) expect(numbers).toContain(number)
        if (ranges.length <= count) expect(few).toEqual(ranges)
        // Each range starts where an original one did, so that the start of a chain stays included.
        for (const { from } of few) expect(ranges.some((each) => each.from === from)).toBe(true)
      })
    )
  })

  it("joins the ranges with the smallest gaps", () => {
    const ranges = [1, 3, 10, 30, 32].map((from) => ({ from, to: from }))
    expect(PackRanges.atMost(3, ranges)).toEqual([
      { from: 1, to: 3 },
      { from: 10, to: 10 },
      { from: 30, to: 32 }
    ])
  })
})
