import { describe, expect, it } from "vitest"
import * as EventTime from "../../src/domain/EventTime.ts"

describe("the first id of a time", () => {
  it("has that time", () => {
    for (const time of [0, 1, 1_790_000_000_000, 2 ** 48 - 1])
      expect(EventTime.of(EventTime.firstIdOf(time))).toBe(time)
  })

  it("is the lowest before 1970, and has the last time that an id holds after it", () => {
    expect(EventTime.firstIdOf(-1_000)).toBe(EventTime.lowestId)
    expect(EventTime.of(EventTime.firstIdOf(2 ** 48))).toBe(2 ** 48 - 1)
  })
})
