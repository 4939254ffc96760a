import { describe, expect, it } from "vitest"
import { backoffMs, retryAfterMs } from "../../src/delivery/Backoff.ts"

describe("backoffMs", () => {
  it.each([
    [1, 250],
    [2, 500],
    [5, 4000],
    [8, 30_000],
    [5000, 30_000]
  ])("after %i failures is between a half and the whole of %i ms", (failures, whole) => {
    const waits = Array.from({ length: 200 }, () => backoffMs(failures))
    expect(Math.min(...waits)).toBeGreaterThanOrEqual(whole / 2)
    expect(Math.max(...waits)).toBeLessThanOrEqual(whole)
    expect(new Set(waits).size).toBeGreaterThan(100)
  })
})

describe("retryAfterMs", () => {
  const now = Date.UTC(2026, 0, 1)
  it.each([
    ["2", 2000],
    ["0.5", 500],
    ["-1", 0],
    ["Thu, 01 Jan 2026 00:00:03 GMT", 3000],
    ["Wed, 31 Dec 2025 00:00:00 GMT", 0],
    ["3600", 3_600_000],
    ["3000000", 3_600_000],
    ["Infinity", 3_600_000],
    ["Thu, 01 Jan 2099 00:00:00 GMT", 3_600_000],
    ["soon", undefined],
    ["", undefined],
    [null, undefined]
  ])("of %j is %j", (header, expected) => {
    expect(retryAfterMs(header, now)).toBe(expected)
  })
})
