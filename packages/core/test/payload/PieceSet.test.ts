import fc from "fast-check"
import { describe, expect, it } from "vitest"
import { PieceSet } from "../../src/payload/PieceSet.ts"

const range = fc.tuple(fc.integer({ min: 1, max: 20_000 }), fc.oneof(fc.nat(3), fc.nat(70), fc.nat(9_000)))
const sequence = (first: number, last: number) => Array.from({ length: last - first + 1 }, (_, index) => first + index)

describe("PieceSet", () => {
  it("adds and finds what a set of numbers does", () => {
    fc.assert(
      fc.property(fc.array(range, { maxLength: 12 }), range, (added, [from, length]) => {
        const expected = new Set<number>()
        const set = new PieceSet()
        for (const [index, [first, count]] of added.entries()) {
          const isNew = sequence(first, first + count).filter((number) => !expected.has(number))
          const found: Array<number> = []
          if (index % 2 === 0) set.add(first, first + count, (number) => found.push(number))
          else set.add(first, first + count)
          if (index % 2 === 0) expect(found).toEqual(isNew)
          for (const number of isNew) expected.add(number)
        }
        const found: Array<number> = []
        new PieceSet(set).forEach(from, from + length, (number) => found.push(number))
        expect(found).toEqual(sequence(from, from + length).filter((number) => expected.has(number)))
      }),
      { numRuns: 100 }
    )
  })

  it("takes a few operations for a run that it has", () => {
    const set = new PieceSet()
    set.add(1, 50_000)
    const before = set.operations
    set.add(1, 50_000, () => expect.fail("It is not new"))
    expect(set.operations - before).toBeLessThan(20)
  })

  it("changes no copy", () => {
    const set = new PieceSet()
    set.add(1, 10)
    const copy = new PieceSet(set)
    copy.add(11, 20)
    set.add(21, 30)
    const found: Array<number> = []
    copy.forEach(1, 100, (number) => found.push(number))
    expect(found).toEqual(sequence(1, 20))
  })
})
