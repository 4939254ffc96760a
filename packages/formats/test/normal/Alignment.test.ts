import fc from "fast-check"
import { describe, expect, it } from "vitest"
import { align } from "../../src/normal/Alignment.ts"

/** The length of a longest common subsequence, by its definition. */
const lengthOfLongest = (olds: ReadonlyArray<unknown>, news: ReadonlyArray<unknown>): number => {
  let row = olds.map(() => 0)
  for (const element of news) {
    const next: Array<number> = []
    for (const [at, old] of olds.entries()) {
      next.push(old === element ? (row[at - 1] ?? 0) + 1 : Math.max(row[at]!, next[at - 1] ?? 0))
    }
    row = next
  }
  return row.at(-1) ?? 0
}

/** Checks that indexes ascend and that elements are the same. Returns how many there are. */
const aligned = (olds: ReadonlyArray<unknown>, news: ReadonlyArray<unknown>): number => {
  const found = align(olds, news)
  expect(found.length).toBe(news.length)
  let [count, last] = [0, -1]
  for (const [at, old] of found.entries()) {
    if (old === -1) continue
    if (old <= last || olds[old] !== news[at]) throw new Error(`${at} is not ${old}`)
    last = old
    count++
  }
  return count
}

describe("an alignment", () => {
  it("is a longest common subsequence, however often elements recur", () => {
    const elements = fc.integer({ min: 1, max: 150 }).chain((max) => fc.array(fc.nat({ max }), { maxLength: 150 }))
    fc.assert(
      fc.property(elements, elements, (olds, news) => {
        expect(aligned(olds, news)).toBe(lengthOfLongest(olds, news))
      })
    )
  })

  it.each([
    ["every second one of 10,000 recurs", 10_000, (at: number, side: string) => (at % 2 ? "ok" : side + at), 5_000],
    [
      "10,000 recur, and one side has others between",
      10_000,
      (at: number, side: string) => (at % 2 ? "ok" : side),
      5_000
    ],
    ["30,000 are moved by one", 30_000, (at: number, side: string) => `${at + side.length}`, 29_999]
  ])("finds what is common where %s", (_what, count, elementOf, common) => {
    const [olds, news] = ["a", "bc"].map((side) => Array.from({ length: count }, (_, at) => elementOf(at, side)))
    expect(aligned(olds!, news!)).toBe(common)
  })
})
