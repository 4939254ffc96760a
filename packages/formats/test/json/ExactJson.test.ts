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
