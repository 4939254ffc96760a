import { Moments } from "@tachograph/testkit"
import { DateTime, Option } from "effect"
import { describe, expect, it } from "vitest"
import * as Moment from "../../src/domain/Moment.ts"

const now = DateTime.makeUnsafe(Moments.now)

const at = (text: string, zone?: string, seenAt = now): string =>
  Option.match(Moment.parse(text), {
    onNone: () => "none",
    onSome: (seenFrom) => DateTime.formatIso(seenFrom(seenAt).in(zone))
  })

describe("a time as people ask for it", () => {
  it.each(Moments.meanings)("is %s in a zone", (text, iso) => {
    expect(at(text, Moments.zone)).toBe(iso)
  })

  it.each([
    ["today", "2026-03-29T00:00:00.000Z"],
    ["yesterday", "2026-03-28T00:00:00.000Z"],
    ["2026-03-28", "2026-03-28T00:00:00.000Z"],
    ["2026-03-28T10:00:00+01:00", "2026-03-28T09:00:00.000Z"]
  ])("is %s in UTC", (text, iso) => {
    expect(at(text)).toBe(iso)
  })

  it("begins with the first moment of a day that has no midnight", () => {
    // In Beirut the clock goes from 23:59 to 01:00.
    expect(at("2026-03-29", "Asia/Beirut")).toBe("2026-03-28T22:00:00.000Z")
  })

  it.each([
    ["Africa/Cairo", "2024-04-26T10:00:00Z", "2024-04-24T22:00:00.000Z"],
    ["America/Santiago", "2025-09-07T16:00:00Z", "2025-09-06T04:00:00.000Z"],
    ["America/Havana", "2025-03-09T16:00:00Z", "2025-03-08T05:00:00.000Z"],
    // 30 December 2011 was left out.
    ["Pacific/Apia", "2011-12-31T00:00:00Z", "2011-12-29T10:00:00.000Z"]
  ])("is yesterday in %s where today has no midnight, or is not the day after", (zone, seenAt, begin) => {
    expect(at("yesterday", zone, DateTime.makeUnsafe(seenAt))).toBe(begin)
  })

  it.each(Moments.none)("is not %j", (text) => {
    expect(at(text)).toBe("none")
  })
})
