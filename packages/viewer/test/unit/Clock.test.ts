import { afterEach, describe, expect, it } from "vitest"
import * as Zone from "../../app/settings/Zone.ts"
import * as Clock from "../../app/text/Clock.ts"

const timeOf = (clock: string) => new Date(Clock.timeOf(Date.parse(`${clock}Z`))).toISOString()

describe("the clocks of a zone", () => {
  afterEach(() => Zone.setting.set(""))

  it.each([
    ["UTC", "2026-03-29T02:30", "2026-03-29T02:30:00.000Z"],
    ["Europe/Berlin", "2026-03-29T01:30", "2026-03-29T00:30:00.000Z"],
    // They jump from 2 to 3.
    ["Europe/Berlin", "2026-03-29T02:30", "2026-03-29T01:30:00.000Z"],
    // They show it twice.
    ["Europe/Berlin", "2026-10-25T02:30", "2026-10-25T00:30:00.000Z"],
    ["Asia/Kolkata", "2026-11-30T00:00", "2026-11-29T18:30:00.000Z"],
    // The day begins at 1 o'clock.
    ["Africa/Cairo", "2026-04-24T00:00", "2026-04-23T22:00:00.000Z"]
  ] as const)("in %s show %s at %s", (zone, clock, time) => {
    Zone.setting.set(zone)
    expect(timeOf(clock)).toBe(time)
  })

  it("show each time once, all hours of two years", () => {
    for (const zone of ["America/Havana", "Australia/Lord_Howe", "Asia/Kathmandu", "Pacific/Apia"]) {
      Zone.setting.set(zone)
      for (let ms = Date.UTC(2025, 0, 1); ms < Date.UTC(2027, 0, 1); ms += 5 * Clock.hourMs) {
        const clock = Clock.at(ms)
        expect(Clock.at(Clock.timeOf(clock))).toBe(clock)
      }
    }
  })
})
