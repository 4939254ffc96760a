import { afterEach, beforeEach, describe, expect, it } from "vitest"
import * as Period from "../../app/parts/Period.ts"

const day = Period.byName("day")

describe("Period", () => {
  const zone = process.env["TZ"]
  beforeEach(() => void (process.env["TZ"] = "Europe/Berlin"))
  afterEach(() => {
    if (zone === undefined) delete process.env["TZ"]
    else process.env["TZ"] = zone
  })

  it("has a slot for each day of the calendar, also where a day has 25 hours", () => {
    const slots = Period.slotsOf({ ...Period.month, count: 3 }, new Date("2026-10-26T08:00:00+01:00"))
    expect(slots.map((slot) => new Date(slot).toISOString())).toEqual([
      "2026-10-23T22:00:00.000Z",
      "2026-10-24T22:00:00.000Z",
      "2026-10-25T23:00:00.000Z"
    ])
    expect(slots.map((slot) => Period.endOf(Period.month, slot))).toEqual([...slots.slice(1), slots[2]! + 86_400_000])
  })

  it("has a slot for each hour, also for the one that a clock shows twice", () => {
    const slots = Period.slotsOf({ ...day, count: 4 }, new Date("2026-10-25T03:20:00+01:00"))
    expect(slots.map((slot) => new Date(slot).toISOString().slice(11, 16))).toEqual([
      "23:00",
      "00:00",
      "01:00",
      "02:00"
    ])
  })

  it("finds the slot of a row", () => {
    const row = (fields: object) => Period.slotOf(fields as never)
    expect(row({ day: "2026-10-25" })).toBe(Date.parse("2026-10-25T00:00:00+02:00"))
    expect(row({ hour: "2026-10-25T02:00:00+01:00" })).toBe(Date.parse("2026-10-25T01:00:00Z"))
  })

  it("is thirty days where its name is unknown", () => {
    expect([Period.byName(null), Period.byName("century")]).toEqual([Period.month, Period.month])
  })
})
