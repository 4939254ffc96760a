import { Sessions } from "@tachograph/api"
import { EventId, EventTime } from "@tachograph/core"
import { Schema } from "effect"
import { expect, it } from "vitest"

const { listCursor } = Sessions
const isCursor = Schema.is(listCursor.schema)
const asOf = EventId.make(EventTime.firstIdOf(Date.UTC(2026, 10, 23)))
const last = EventId.make(EventTime.firstIdOf(Date.UTC(2026, 10, 22)))

it("names a place in a list of sessions, with as many numbers as there may be", () => {
  const many = Array.from({ length: 500 }, (_, n) => 2 ** 31 - 1 - n)
  for (const place of [
    { asOf, last: undefined, recent: [], given: 0 },
    { asOf, last, recent: [7], given: 1 },
    { asOf, last: undefined, recent: many, given: 499 }
  ]) {
    const cursor = listCursor.encode(place)!
    expect(isCursor(cursor)).toBe(true)
    expect(listCursor.decode(cursor)).toEqual(place)
    expect(cursor.length).toBeLessThan(5_000)
  }
  const [tooMany, behind] = [
    { asOf, last, recent: [...many, 1], given: 0 },
    { asOf, last, recent: [1], given: 2 }
  ]
  expect(isCursor(listCursor.encode(tooMany))).toBe(false)
  expect(isCursor(listCursor.encode(behind))).toBe(false)
})
