import { afterEach, beforeEach, describe, expect, it } from "vitest"
import * as Moments from "../../app/text/Moments.ts"

describe("Moments", () => {
  const zone = process.env["TZ"]
  beforeEach(() => void (process.env["TZ"] = "Europe/Berlin"))
  afterEach(() => {
    if (zone === undefined) delete process.env["TZ"]
    else process.env["TZ"] = zone
  })

  it("are words of the zone of the pages, also where a day has 23 hours", () => {
    const now = new Date("2026-03-29T22:30:00Z")
    const expected = {
      today: "2026-03-29T22:00:00.000Z",
      yesterday: "2026-03-28T23:00:00.000Z",
      "2026-03-28": "2026-03-27T23:00:00.000Z",
      "90m": "2026-03-29T21:00:00.000Z",
      "24h": "2026-03-28T22:30:00.000Z",
      "7d": "2026-03-22T22:30:00.000Z",
      "4w": "2026-03-01T22:30:00.000Z"
    }
    for (const [word, iso] of Object.entries(expected)) expect([word, Moments.resolve(word, now)]).toEqual([word, iso])
  })

  it("leave all others as they are", () => {
    for (const text of ["", "tomorrow", "2026-99-99", "0h", "2026-01-01T00:00:00Z"]) {
      expect(Moments.resolve(text)).toBe(text)
    }
  })
})
