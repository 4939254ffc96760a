import { Moments as Cases } from "@tachograph/testkit"
import { afterEach, beforeEach, describe, expect, it } from "vitest"
import * as Moments from "../../app/text/Moments.ts"

describe("Moments", () => {
  const zone = process.env["TZ"]
  beforeEach(() => void (process.env["TZ"] = Cases.zone))
  afterEach(() => {
    if (zone === undefined) delete process.env["TZ"]
    else process.env["TZ"] = zone
  })

  it("are words of the zone of the pages, also where a day has 23 hours", () => {
    const now = new Date(Cases.now)
    expect(Cases.meanings.map(([text]) => [text, Moments.resolve(text, now)])).toEqual(Cases.meanings)
  })

  it("leave all others as they are", () => {
    const others = [...Cases.none, "2026-01-01T00:00:00Z"]
    expect(others.map((text) => Moments.resolve(text))).toEqual(others)
  })
})
