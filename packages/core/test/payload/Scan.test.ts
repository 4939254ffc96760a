import { RandomJson } from "@tachograph/testkit"
import fc from "fast-check"
import { describe, expect, it } from "vitest"
import * as Scan from "../../src/payload/Scan.ts"

/** Every path into a parsed value, with what stands there. */
const paths = function* (value: unknown, path: ReadonlyArray<string | number> = []): Generator<[typeof path, unknown]> {
  yield [path, value]
  if (Array.isArray(value)) {
    for (const [index, inner] of value.entries()) yield* paths(inner, [...path, index])
  } else if (typeof value === "object" && value !== null) {
    for (const key of Object.keys(value)) yield* paths((value as Record<string, unknown>)[key], [...path, key])
  }
}

describe("Scan", () => {
  it("finds at every path the text of what JSON.parse finds there", () => {
    fc.assert(
      fc.property(RandomJson.jsonText, (text) => {
        for (const [path, value] of paths(JSON.parse(text))) {
          const { end, start } = Scan.locate(text, path)!
          const found = text.slice(start, end)
          expect(found).toBe(found.trim())
          expect(JSON.parse(found)).toEqual(value)
        }
      }),
      { numRuns: 500 }
    )
  })

  it("finds nothing at a path that leads nowhere", () => {
    const text = `{"a":[1,{"b":null}]}`
    for (const path of [["b"], ["a", 2], ["a", "b"], ["a", 0, "c"], [0], ["a", 1, "b", "c"]]) {
      expect(Scan.locate(text, path)).toBeUndefined()
    }
    expect(Scan.locate("[]", [0])).toBeUndefined()
  })

  it("takes nesting as deep as memory goes", () => {
    const depth = 200_000
    const text = "[".repeat(depth) + "]".repeat(depth)
    expect(Scan.skipValue(text, 0)).toBe(text.length)
  })

  it("visits members in order, duplicates and escaped keys too", () => {
    const seen: Array<string> = []
    const text = ` { "a" : 1 , "\\u0061":{} ,"" :"}","a":[]}tail`
    const end = Scan.scanMembers(text, 1, (key, at) => {
      seen.push(key)
      return Scan.skipValue(text, at)
    })
    expect(seen).toEqual(["a", "a", "", "a"])
    expect(text.slice(end)).toBe("tail")
  })
})
