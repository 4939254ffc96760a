import { Sessions } from "@tachograph/api"
import { EventId, EventTime, SessionRank } from "@tachograph/core"
import { Schema } from "effect"
import { expect, it } from "vitest"

const { listCursor } = Sessions
const isCursor = Schema.is(listCursor.schema)
const asOf = EventId.make(EventTime.firstIdOf(Date.UTC(2026, 10, 23)))
const at = EventId.make(EventTime.firstIdOf(Date.UTC(2026, 10, 22)))
const last = SessionRank.of(Date.UTC(2026, 10, 22), 2 ** 31 - 1)

it("names a place in a list of sessions, with as many ranks as there may be", () => {
  const many = Array.from({ length: 500 }, (_, n) => SessionRank.of(2 ** 48 - 1 - n, 2 ** 31 - 1 - n))
  for (const place of [
    { asOf, last: undefined, recent: [] },
    { asOf, last, recent: [last], scan: { at, given: 1 } },
    { asOf, last: undefined, recent: many, scan: { at, given: 499 } }
  ]) {
    const cursor = listCursor.plain.encode(place)!
    expect(isCursor(cursor)).toBe(true)
    expect(listCursor.plain.decode(cursor)).toEqual(place)
    expect(cursor.length).toBeLessThan(7_000)
  }
  const [tooMany, behind] = [
    { asOf, last, recent: [...many, last] },
    { asOf, last, recent: [last], scan: { at, given: 2 } }
  ]
  expect(isCursor(listCursor.plain.encode(tooMany))).toBe(false)
  expect(isCursor(listCursor.plain.encode(behind))).toBe(false)
})
