import { DateTime, Option } from "effect"
import { describe, expect, it } from "vitest"
import * as Moment from "../../src/domain/Moment.ts"

/** Half an hour into a day in Berlin whose day before had 23 hours. */
const now = DateTime.makeUnsafe("2026-03-29T22:30:00Z")

const at = (text: string, zone?: string): string =>
  Option.match(Moment.parse(text), {
    onNone: () => "none",
    onSome: (seenFrom) => DateTime.formatIso(seenFrom(now).in(zone))
  })

describe("a time as people ask for it", () => {
  it.each([
    ["today", "2026-03-29T00:00:00.000Z", "2026-03-29T22:00:00.000Z"],
    ["yesterday", "2026-03-28T00:00:00.000Z", "2026-03-28T23:00:00.000Z"],
    ["2026-03-28", "2026-03-28T00:00:00.000Z", "2026-03-27T23:00:00.000Z"],
    ["24h", "2026-03-28T22:30:00.000Z", "2026-03-28T22:30:00.000Z"],
    ["7d", "2026-03-22T22:30:00.000Z", "2026-03-22T22:30:00.000Z"],
    ["2026-03-28T10:00:00+01:00", "2026-03-28T09:00:00.000Z", "2026-03-28T09:00:00.000Z"]
  ])("is %s in UTC and in Berlin", (text, inUtc, inBerlin) => {
    expect([at(text), at(text, "Europe/Berlin")]).toEqual([inUtc, inBerlin])
  })

  it("begins with the first moment of a day that has no midnight", () => {
    // In Beirut the clock goes from 23:59 to 01:00.
    expect(at("2026-03-29", "Asia/Beirut")).toBe("2026-03-28T22:00:00.000Z")
  })

  it.each(["", "tomorrow", "Today", "0h", "24", "7y", "2026-02-30", "2026-1-1", "1767225600"])("is not %j", (text) => {
    expect(at(text)).toBe("none")
  })
})
