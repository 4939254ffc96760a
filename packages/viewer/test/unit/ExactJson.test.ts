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
