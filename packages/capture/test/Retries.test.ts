import { describe, expect, it } from "vitest"
import { decodedOrSame } from "../src/PercentDecoding.ts"
import { backoffMs, isTransient } from "../src/Retries.ts"

describe("the pause after failures", () => {
  it("is twice as long each time, up to the longest, and less by a random half", () => {
    const pauses = (random: number) => [1, 2, 3, 6, 7, 2_000].map((failures) => backoffMs(failures, 10_000, random))
    expect(pauses(0)).toEqual([125, 250, 500, 4_000, 5_000, 5_000])
    expect(pauses(1)).toEqual([250, 500, 1_000, 8_000, 10_000, 10_000])
  })

  it("differs from one to the next", () => {
    const pauses = new Set(Array.from({ length: 20 }, () => backoffMs(1, 5_000)))
    expect(pauses.size).toBeGreaterThan(1)
  })
})

it("errors of the recorder pass by themselves, or do not", () => {
  expect(["overloaded", "storage-unavailable", "internal", "event-damaged"].map(isTransient)).toEqual([
    true,
    true,
    false,
    false
  ])
})

it("a text that is not well encoded stays as it is", () => {
  expect(["a%2Fb", "%F0%9F%98%80", "%zz", "%ff", "a+b"].map(decodedOrSame)).toEqual(["a/b", "😀", "%zz", "%ff", "a+b"])
})
