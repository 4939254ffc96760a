import * as fc from "fast-check"
import { expect, it } from "vitest"
import { split, type TimeRange } from "../../src/rollup/TimeRanges.ts"

const units = [
  ["a", 3],
  ["b", 12],
  ["c", 60]
] as const

it("makes a range up of whole units, and what is left at its ends", () => {
  const time = fc.integer({ min: 0, max: 500 })
  fc.assert(
    fc.property(time, time, fc.integer({ min: 0, max: 3 }), (fromMs, toMs, count) => {
      const used = units.slice(0, count)
      const { ends, units: found } = split({ fromMs, toMs }, used)
      const sizes = new Map<string, number>(used)
      const all: Array<TimeRange> = [...ends]
      for (const { ranges, unit } of found) {
        for (const range of ranges) {
          expect([range.fromMs % sizes.get(unit)!, range.toMs % sizes.get(unit)!]).toEqual([0, 0])
          all.push(range)
        }
      }
      all.sort((a, b) => a.fromMs - b.fromMs)
      expect(all.every((range) => range.fromMs < range.toMs)).toBe(true)
      // They follow each other, from the beginning to the end.
      if (fromMs < toMs) {
        expect([all[0]!.fromMs, all.at(-1)!.toMs]).toEqual([fromMs, toMs])
        for (const [index, range] of all.slice(1).entries()) expect(range.fromMs).toBe(all[index]!.toMs)
      } else expect(all).toEqual([])
      // What is left is less than two of the smallest units, unless there are none.
      if (count > 0) for (const end of ends) expect(end.toMs - end.fromMs).toBeLessThan(2 * 3)
    })
  )
})
