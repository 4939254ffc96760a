import { describe, expect, it } from "vitest"
import { formatUsd } from "@tachograph/prices"

describe("formatUsd", () => {
  it.each([
    [0, "0"],
    [1, "0.000000001"],
    [3_480_000, "0.00348"],
    [1_000_000_000, "1"],
    [12_345_678_901, "12.345678901"],
    [-1_500_000_000, "-1.5"],
    [9_007_199_254_740_993_000n, "9007199254.740993"]
  ])("formats %d billionths of a dollar as %s", (nanoDollars, text) => {
    expect(formatUsd(nanoDollars)).toBe(text)
  })
})
