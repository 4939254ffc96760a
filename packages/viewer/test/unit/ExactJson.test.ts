import { describe, expect, it } from "vitest"
import * as ExactJson from "../../app/server/ExactJson.ts"

describe("JSON with exact numbers", () => {
  it.each([
    ...["0", "1", "-1", "1.5", "-0", "-0.0", "0.0", "1.0", "1.50", "100", "1e3", "1E-3", "0.1e1"],
    ...[
      "9007199254740993",
      "123456789.12345678",
      "0.12345678901234567",
      "0.000001",
      "0.0000001",
      "0.00000012",
      "1e400"
    ],
    ...["-123456.1234567890123", "100000000000000000000000"]
  ])("keeps %s as it is written", (number) => {
    for (const text of [number, `[${number}]`, `{"a":${number},"b":[${number},1]}`]) {
      expect(JSON.stringify(ExactJson.parse(text))).toBe(text)
    }
  })
})

describe("JSON of many levels", () => {
  const nested = (levels: number, inner = "1.0") => `${"[".repeat(levels)}${inner}${"]".repeat(levels)}`

  it("is a value as far as the limit, and below it a text", () => {
    const { maxLevels } = ExactJson
    expect(JSON.stringify(ExactJson.parse(nested(maxLevels)))).toBe(nested(maxLevels))
    expect(JSON.stringify(ExactJson.parse(nested(maxLevels + 1)))).toBe(nested(maxLevels, JSON.stringify("[1.0]")))
  })

  it.each([1_000, 30_000, 1_000_000])("is read with %i of them", (levels) => {
    const inner = '{"a\\"[":[1,"]\\\\"],"b":{}}'
    const text = `{"first":${nested(levels, inner)},"second":[${inner}]}`
    const shown = JSON.stringify(ExactJson.parse(text))
    expect(shown.endsWith(`,"second":[${inner}]}`)).toBe(true)
    const depth = ExactJson.maxLevels - 1
    const rest = JSON.stringify(nested(levels - depth, inner))
    expect(shown === `{"first":${nested(depth, rest)},"second":[${inner}]}`).toBe(true)
  })

  it("throws where what is below the limit is none", () => {
    for (const inner of ["nul", "1,", "}"]) {
      const text = nested(ExactJson.maxLevels + 5, inner)
      expect(() => ExactJson.parse(text)).toThrow(SyntaxError)
    }
  })

  it.each(["", "[", "]", '["', '{"a":}', "[[]", '["\\"]'])("throws for %j, which is none", (text) => {
    expect(() => ExactJson.parse(text)).toThrow(SyntaxError)
  })
})
