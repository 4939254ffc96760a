import * as fc from "fast-check"
import { expect, it } from "vitest"
import { LocalTime } from "../../src/rollup/LocalTime.ts"

const hour = 60 * 60_000

it.each([
  // Summer time begins and ends; quarter and half hours; a day that begins at 1 o'clock; the date line.
  ["Europe/Berlin", "2026-03-29T00:59:59Z", "2026-03-29", "2026-03-29T01:00:00+01:00"],
  ["Europe/Berlin", "2026-03-29T01:00:00Z", "2026-03-29", "2026-03-29T03:00:00+02:00"],
  ["Europe/Berlin", "2026-10-25T00:30:00Z", "2026-10-25", "2026-10-25T02:00:00+02:00"],
  ["Europe/Berlin", "2026-10-25T01:30:00Z", "2026-10-25", "2026-10-25T02:00:00+01:00"],
  ["Asia/Kathmandu", "2026-01-01T18:14:59Z", "2026-01-01", "2026-01-01T23:00:00+05:45"],
  ["Asia/Kathmandu", "2026-01-01T18:15:00Z", "2026-01-02", "2026-01-02T00:00:00+05:45"],
  ["Australia/Lord_Howe", "2026-04-04T14:59:00Z", "2026-04-05", "2026-04-05T01:00:00+11:00"],
  ["Australia/Lord_Howe", "2026-04-04T15:00:00Z", "2026-04-05", "2026-04-05T01:00:00+10:30"],
  ["Africa/Cairo", "2026-04-23T22:00:00Z", "2026-04-24", "2026-04-24T01:00:00+03:00"],
  ["Pacific/Kiritimati", "2026-01-01T10:00:00Z", "2026-01-02", "2026-01-02T00:00:00+14:00"],
  ["America/New_York", "1970-01-01T00:00:00Z", "1969-12-31", "1969-12-31T19:00:00-05:00"],
  ["UTC", "2026-01-01T23:59:59.999Z", "2026-01-01", "2026-01-01T23:00:00+00:00"]
])("says the day and the hour in %s at %s", (zone, at, day, hourText) => {
  const time = new LocalTime(zone)
  const ms = Date.parse(at)
  expect(LocalTime.formatDay(time.dayOf(ms))).toBe(day)
  expect(time.formatHour(time.hourOf(ms))).toBe(hourText)
})

it("says the same as the formatter of the platform, and hours that begin within an hour before", () => {
  const zones = fc.constantFrom(
    "Europe/Lisbon",
    "America/St_Johns",
    "Asia/Tehran",
    "Pacific/Chatham",
    "Africa/Casablanca"
  )
  fc.assert(
    fc.property(zones, fc.integer({ min: Date.UTC(1990, 0), max: Date.UTC(2035, 0) }), (timeZone, ms) => {
      const time = new LocalTime(timeZone)
      const day = new Intl.DateTimeFormat("sv-SE", { timeZone }).format(ms)
      expect(LocalTime.formatDay(time.dayOf(ms))).toBe(day)
      const begin = time.hourOf(ms)
      expect(ms - begin).toBeGreaterThanOrEqual(0)
      expect(ms - begin).toBeLessThan(hour)
    })
  )
})

it("knows which zones have whole hours", () => {
  const [from, to] = [Date.UTC(2026, 0), Date.UTC(2027, 0)]
  for (const [zone, isWhole] of [
    ["UTC", true],
    ["Europe/Berlin", true],
    ["Asia/Kolkata", false],
    ["Australia/Lord_Howe", false]
  ] as const) {
    expect(new LocalTime(zone).hasWholeHours(from, to), zone).toBe(isWhole)
  }
  expect(() => new LocalTime("Mars/Olympus")).toThrow(RangeError)
})
