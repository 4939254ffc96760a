import fc from "fast-check"
import { describe, expect, it } from "vitest"
import * as Scan from "../../app/bytes/Scan.ts"

const bytesOf = (text: string) => new TextEncoder().encode(text)

/** All values of a text, as the scanner sees them. */
const tree = (bytes: Uint8Array, start: number): unknown => {
  const first = String.fromCharCode(bytes[start]!)
  if (first !== "{" && first !== "[") throw new Error("no container")
  return Scan.childrenOf(bytes, start).map(({ end, key, start }) => {
    const text = Scan.textOf(bytes, start, end)
    return [key, /^[{[]/.test(text) ? tree(bytes, start) : text]
  })
}

/** The same of a parsed value. */
const expected = (value: unknown): unknown =>
  Object.entries(value as object).map(([key, each]) => [
    Array.isArray(value) ? undefined : JSON.stringify(key).slice(1, -1),
    typeof each === "object" && each !== null ? expected(each) : JSON.stringify(each)
  ])

describe("Scan.childrenOf", () => {
  it("finds every value of any JSON, however it is spaced", () => {
    fc.assert(
      fc.property(fc.array(fc.jsonValue()), fc.constantFrom(0, 1, 3), (values, indent) => {
        const parsed: unknown = JSON.parse(JSON.stringify(values))
        const bytes = bytesOf(JSON.stringify(parsed, undefined, indent))
        expect(tree(bytes, 0)).toEqual(expected(parsed))
      })
    )
  })

  it("keeps numbers, escapes and duplicate keys as they are written", () => {
    const bytes = bytesOf(String.raw` { "n" : 1.0 , "n":9007199254740993,"\u0041":"a\"b\\" } `)
    expect(tree(bytes, Scan.skipSpace(bytes, 0))).toEqual([
      ["n", "1.0"],
      ["n", "9007199254740993"],
      [String.raw`\u0041`, String.raw`"a\"b\\"`]
    ])
  })
})

describe("Scan.rowsOf", () => {
  it("cuts any text into rows that together are the text, and never within a character", () => {
    fc.assert(
      fc.property(fc.string({ unit: "binary", maxLength: 2_000 }), (text) => {
        const bytes = bytesOf(text)
        const rows = Scan.rowsOf(bytes)
        const texts = Array.from(rows, (start, index) => Scan.textOf(bytes, start, rows[index + 1] ?? bytes.length))
        expect(texts.join("")).toBe(new TextDecoder().decode(bytes))
        expect(texts.every((row) => !row.includes("\uFFFD") || text.includes("\uFFFD") || !text.isWellFormed())).toBe(
          true
        )
      })
    )
  })

  it("finds the row of each byte", () => {
    const bytes = bytesOf(`short\n${"long ".repeat(100)}\nend`)
    const rows = Scan.rowsOf(bytes)
    for (let offset = 0; offset < bytes.length; offset++) {
      const row = Scan.rowAt(rows, offset)
      expect(rows[row]!).toBeLessThanOrEqual(offset)
      expect(rows[row + 1] ?? bytes.length).toBeGreaterThan(offset)
    }
  })
})

describe("Scan.find", () => {
  it("finds what JavaScript finds in the text in lower case", () => {
    const letters = fc.string({ unit: fc.constantFrom("a", "A", "b", "B", "1"), maxLength: 60 })
    fc.assert(
      fc.property(
        letters,
        fc.string({ unit: fc.constantFrom("a", "B", "1"), minLength: 1, maxLength: 3 }),
        (text, words) => {
          const wanted = words.toLowerCase()
          const found = Array.from(text, (_, at) => at).filter((at) => text.toLowerCase().startsWith(wanted, at))
          expect(Array.from(Scan.find(bytesOf(text), bytesOf(words)))).toEqual(found)
        }
      )
    )
  })
})
