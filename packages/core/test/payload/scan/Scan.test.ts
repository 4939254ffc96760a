import { RandomJson } from "@tachograph/testkit"
import fc from "fast-check"
import { describe, expect, it } from "vitest"
import * as Scan from "../../../src/payload/scan/Scan.ts"

/** Every path into a parsed value, with the value at it. */
const paths = function* (value: unknown, path: ReadonlyArray<string | number> = []): Generator<[typeof path, unknown]> {
  yield [path, value]
  if (Array.isArray(value)) {
    for (const [index, inner] of value.entries()) yield* paths(inner, [...path, index])
  } else if (typeof value === "object" && value !== null) {
    for (const key of Object.keys(value)) yield* paths((value as Record<string, unknown>)[key], [...path, key])
  }
}

describe("Scan", () => {
  it("locates at each path the text of the value that JSON.parse returns there", () => {
    fc.assert(
      fc.property(RandomJson.jsonText, (json) => {
        const text = Buffer.from(json)
        for (const [path, value] of paths(JSON.parse(json))) {
          const { end, start } = Scan.locate(text, path)!
          const located = text.toString("utf8", start, end)
          expect(located).toBe(located.trim())
          expect(JSON.parse(located)).toEqual(value)
        }
      }),
      { numRuns: RandomJson.runs(300) }
    )
  })

  it("returns undefined for a path that does not exist", () => {
    const text = Buffer.from(`{"a":[1,{"b":null}]}`)
    for (const path of [["b"], ["a", 2], ["a", "b"], ["a", 0, "c"], [0], ["a", 1, "b", "c"]]) {
      expect(Scan.locate(text, path)).toBeUndefined()
    }
    expect(Scan.locate(Buffer.from("[]"), [0])).toBeUndefined()
  })

  it("locates several paths at once, each as if alone", () => {
    fc.assert(
      fc.property(RandomJson.jsonText, fc.infiniteStream(fc.boolean()), (json, choice) => {
        const text = Buffer.from(json)
        const chosen = Array.from(paths(JSON.parse(json)), ([path]) => path).filter(() => choice.next().value)
        const missing = [["no such key"], [0, "no such key"]].filter((path) => Scan.locate(text, path) === undefined)
        const all = [...missing, ...chosen, ...chosen]
        expect(Scan.locateAll(text, all)).toEqual(all.map((path) => Scan.locate(text, path)))
      })
    )
  })

  it("compares the depth of nesting with a limit, without brackets in strings", () => {
    const depthOf = (value: unknown): number =>
      typeof value === "object" && value !== null ? 1 + Math.max(0, ...Object.values(value).map(depthOf)) : 0
    fc.assert(
      fc.property(fc.jsonValue({ maxDepth: 6 }), (value) => {
        const text = Buffer.from(JSON.stringify(value))
        const depth = depthOf(value)
        expect(Scan.isDeeperThan(text, depth)).toBe(false)
        if (depth > 0) expect(Scan.isDeeperThan(text, depth - 1)).toBe(true)
      })
    )
    expect(Scan.isDeeperThan(Buffer.from(String.raw`["[[[\"[[[","\\",[]]`), 2)).toBe(false)
    expect(Scan.isDeeperThan(Buffer.from("[".repeat(1_000_000)), 999_999)).toBe(true)
    expect(Scan.isDeeperThan(Buffer.from("[".repeat(1_000_000)), 1_000_000)).toBe(false)
    expect(Scan.isDeeperThan(Buffer.from(`["[[[[`), 1)).toBe(false)
  })

  it("finds the end of a value, whatever follows it", () => {
    fc.assert(
      fc.property(RandomJson.jsonText, fc.constantFrom(",", "]", "}", " ,", "\n]"), (json, next) => {
        const value = json.trim()
        expect(Scan.skipValue(Buffer.from(value + next), 0)).toBe(Buffer.byteLength(value))
      })
    )
  })

  it("terminates for any bytes: throws Malformed, or returns an offset within the text", () => {
    const token = fc.constantFrom(...'{}[],:"\\ 1tn', '"a":', "\u00e9", "\u0000")
    fc.assert(
      fc.property(fc.array(token, { maxLength: 30 }), (tokens) => {
        const text = Buffer.from(tokens.join(""))
        const visit = (start: number) => Scan.skipValue(text, start)
        const scans = [
          () => Scan.skipValue(text, 0),
          () => Scan.skipString(text, 0),
          () => Scan.scanMembers(text, 0, (_start, _end, value) => visit(value)),
          () => Scan.scanElements(text, 0, visit)
        ]
        for (const scan of scans) {
          let end: number
          try {
            end = scan()
          } catch (error) {
            expect(error).toBe(Scan.Malformed)
            continue
          }
          expect(end).toBeGreaterThan(0)
          expect(end).toBeLessThanOrEqual(text.length)
        }
      }),
      { numRuns: RandomJson.runs(2_000) }
    )
  })

  it.each([
    "",
    " ",
    "[",
    "{",
    '{"a"',
    '{"a":',
    '{"a":1',
    '"',
    '"\\',
    '"\\"',
    "[1",
    "[1,",
    "[,]",
    "{,}",
    '{"a" 1}',
    "[1 2]",
    '{"a":}',
    "{1:1}"
  ])("throws Malformed for %j", (text) => {
    const bytes = Buffer.from(text)
    const at = Scan.skipSpace(bytes, 0)
    expect(() => {
      if (bytes[at] === Scan.openBracket) Scan.scanElements(bytes, at, (start) => Scan.skipValue(bytes, start))
      else if (bytes[at] === Scan.openBrace)
        Scan.scanMembers(bytes, at, (_start, _end, value) => Scan.skipValue(bytes, value))
      else Scan.skipValue(bytes, at)
    }).toThrow(Scan.Malformed)
  })

  it("skips a value nested 200,000 deep", () => {
    const depth = 200_000
    const text = Buffer.from("[".repeat(depth) + "]".repeat(depth))
    expect(Scan.skipValue(text, 0)).toBe(text.length)
    expect(() => Scan.skipValue(text.subarray(0, -1), 0)).toThrow(Scan.Malformed)
  })

  it("visits members in order, with duplicates and escaped keys", () => {
    const keys: Array<string> = []
    const text = Buffer.from(` { "a" : 1 , "\\u0061":{} ,"" :"}","\u00e9":[]}tail`)
    const end = Scan.scanMembers(text, 1, (keyStart, keyEnd, value) => {
      keys.push(Scan.keyAt(text, keyStart, keyEnd))
      return Scan.skipValue(text, value)
    })
    expect(keys).toEqual(["a", "a", "", "\u00e9"])
    expect(text.toString("utf8", end)).toBe("tail")
  })

  it("visits elements in order", () => {
    const text = Buffer.from(`[ 1 ,"],",[ ] , {"a":[]}\n]`)
    const elements: Array<string> = []
    const end = Scan.scanElements(text, 0, (start) => {
      const valueEnd = Scan.skipValue(text, start)
      elements.push(text.toString("utf8", start, valueEnd))
      return valueEnd
    })
    expect(elements).toEqual(["1", '"],"', "[ ]", '{"a":[]}'])
    expect(end).toBe(text.length)
  })
})
