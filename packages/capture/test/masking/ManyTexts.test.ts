import fc from "fast-check"
import { describe, expect, it } from "vitest"
import { ManyTexts } from "../../src/masking/ManyTexts.ts"
import * as Steps from "../../src/masking/Steps.ts"

type Found = readonly [text: string, from: number, to: number]

const search = (texts: ReadonlyArray<string>, text: string) => {
  const found: Array<Found> = []
  const sought = new ManyTexts(texts.map((text) => [Buffer.from(text), text] as const))
  const onFound = (...one: Found) => {
    found.push(one)
    return 0
  }
  const isWhole = Steps.run(sought.find(Buffer.from(text), onFound))
  return { found, isWhole }
}

/** By looking for each at each place. */
const searchPlainly = (texts: ReadonlyArray<string>, text: string): ReadonlyArray<Found> =>
  Array.from(text, (_, from) => from).flatMap((from) =>
    texts.flatMap((each) => (text.startsWith(each, from) ? [[each, from, from + each.length] as const] : []))
  )

const inOrder = (found: ReadonlyArray<Found>) =>
  found.toSorted(([a, fromA], [b, fromB]) => fromA - fromB || (a < b ? -1 : 1))

/** Words of few characters, so that they occur, overlap and begin alike. */
const wordOf = (minLength: number, maxLength: number) =>
  fc.array(fc.constantFrom("a", "b", "c"), { minLength, maxLength }).map((characters) => characters.join(""))

describe("many texts", () => {
  it("are found wherever they are, in order", () => {
    fc.assert(
      fc.property(fc.uniqueArray(wordOf(4, 10), { maxLength: 20 }), wordOf(0, 200), (texts, text) => {
        const { found, isWhole } = search(texts, text)
        expect(isWhole).toBe(true)
        expect(inOrder(found)).toEqual(inOrder(searchPlainly(texts, text)))
        expect(found.map(([, from]) => from)).toEqual(found.map(([, from]) => from).toSorted((a, b) => a - b))
      }),
      { numRuns: 1_000 }
    )
  })

  it("may be longer than the table of shifts can say", () => {
    const long = "0123456789".repeat(100)
    expect(search([long], `--${long}--${long}`).found.map(([, from]) => from)).toEqual([2, 1004])
  })

  it("are looked for in steps, whose number does not depend on theirs", () => {
    const text = Buffer.alloc(4 * 1024 * 1024, "x")
    const stepsFor = (count: number) => {
      const texts = Array.from({ length: count }, (_, n) => [Buffer.from(`/+${1e6 + n}&`), n] as const)
      return [...new ManyTexts(texts).find(text, () => 0)].length
    }
    expect(stepsFor(10_000)).toBeLessThanOrEqual(64)
    expect(stepsFor(1)).toBeLessThanOrEqual(64)
  })

  it("are given up where somebody makes them and the text so that it takes too long", () => {
    const texts = Array.from({ length: 1_000 }, (_, n) => `${"a".repeat(1_000)}${n}`)
    expect(search(texts, "a".repeat(1_000_000))).toEqual({ found: [], isWhole: false })
  })
})
