import fc from "fast-check"
import { describe, expect, it } from "vitest"
import * as ExactJson from "../../src/json/ExactJson.ts"

describe("ExactJson", () => {
  it("keeps numbers that JavaScript would change", () => {
    for (const number of ["9007199254740993", "-9007199254740993", "1e400", "0.12345678901234567890123"]) {
      const text = `{"a":[${number},"${number}"]}`
      const value = ExactJson.parse(text)
      expect(ExactJson.isExact(value)).toBe(true)
      expect(ExactJson.stringify(value)).toBe(text)
    }
  })

  it("parses other numbers as numbers", () => {
    for (const number of ["9007199254740991", "1e5", "0.1", "-0", "1.7976931348623157e308"]) {
      expect(ExactJson.parse(number)).toBe(Number(number))
    }
  })

  it("rounds as JSON.parse and JSON.stringify do", () => {
    const text = '{"a":9007199254740993,"b":[1e400]}'
    expect(ExactJson.round(ExactJson.parse(text))).toEqual(JSON.parse(JSON.stringify(JSON.parse(text))))
  })

  it("agrees with JSON on any other value", () => {
    fc.assert(
      fc.property(fc.json(), (text) => {
        const value = ExactJson.parse(text)
        if (ExactJson.isExact(value)) return
        expect(ExactJson.stringify(value)).toBe(JSON.stringify(JSON.parse(text)))
        expect(ExactJson.round(value)).toEqual(JSON.parse(text))
      })
    )
  })

  it("keeps a key named __proto__", () => {
    const text = '{"__proto__":{"a":12345678901234567890}}'
    expect(ExactJson.stringify(ExactJson.parse(text))).toBe(text)
    expect(Object.keys(ExactJson.round(ExactJson.parse(text)) as object)).toEqual(["__proto__"])
  })
})

describe("deep values", () => {
  const depth = 20_000
  const text = `${"[".repeat(depth)}12345678901234567890${"]".repeat(depth)}`

  it("are walked without recursion", () => {
    const value = ExactJson.parse(text)
    expect(ExactJson.isDeep(value)).toBe(true)
    expect(ExactJson.stringify(ExactJson.round(value))).toBe(
      text.replace("12345678901234567890", "12345678901234567000")
    )
    expect(ExactJson.settle({ value }).text).toContain("[[[")
  })

  it("have no text beside them when they are shallow", () => {
    expect(ExactJson.settle({ a: [1, { b: null }] })).toEqual({ output: { a: [1, { b: null }] }, text: null })
    expect(ExactJson.settle({ a: ExactJson.parse("9007199254740993") }).text).toBe('{"a":9007199254740993}')
  })

  it("sort their keys on request, at each depth", () => {
    expect(ExactJson.stringify({ b: { d: 1, c: [{ f: 1, e: 2 }] }, a: 0 }, true)).toBe(
      '{"a":0,"b":{"c":[{"e":2,"f":1}],"d":1}}'
    )
  })

  it("are text where JavaScript would change a number", () => {
    expect(ExactJson.parseFaithfully('{"id":1}')).toEqual({ id: 1 })
    expect(ExactJson.parseFaithfully('{"id":9007199254740993}')).toBeUndefined()
    expect(ExactJson.parseFaithfully('{"id":')).toBeUndefined()
  })
})
