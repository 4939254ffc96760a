import { describe, expect, it } from "vitest"
import { pauseAfter } from "../../src/follow/Tail.ts"

describe("the pause between two looks for new events", () => {
  it("is short while a look is cheap", () => expect([0, 2.5].map(pauseAfter)).toEqual([50, 50]))
  it("is a long one after a look that took long, so that looking leaves the processor to recording", () =>
    expect([2.6, 20].map(pauseAfter)).toEqual([52, 400]))
  it("has a bound", () => expect([50, 10_000].map(pauseAfter)).toEqual([1_000, 1_000]))
})
