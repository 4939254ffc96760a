/**
 * Times that a place names by words: `today`, `yesterday`, a date, or how long ago. They stay words in the place, so that a link means the day
 * on which it is opened. Days begin in the zone of these pages.
 */
import * as Clock from "./Clock.ts"

export interface Stretch {
  readonly title: string
  readonly after: string
  readonly before: string | null
}

/** Those that a person chooses from. */
export const stretches: ReadonlyArray<Stretch> = [
  { title: "Today", after: "today", before: null },
  { title: "Yesterday", after: "yesterday", before: "today" },
  { title: "Last 24 hours", after: "24h", before: null },
  { title: "Last 7 days", after: "7d", before: null },
  { title: "Last 30 days", after: "30d", before: null }
]

const minutes: Readonly<Record<string, number>> = { m: 1, h: 60, d: 1_440, w: 10_080 }

const daysAgo: ReadonlyMap<string, number> = new Map([
  ["today", 0],
  ["yesterday", 1]
])

/** What a word means now, as ISO 8601. What is no word stays as it is: the server says what is wrong with it. */
export const resolve = (text: string, now = new Date()): string => {
  const days = daysAgo.get(text)
  // By the calendar, because a day may have 23 or 25 hours.
  if (days !== undefined) {
    const today = Date.parse(Clock.dayOf(Clock.at(now.getTime())))
    return new Date(Clock.timeOf(today - days * Clock.dayMs)).toISOString()
  }
  const [, count, unit] = /^([1-9]\d{0,4})([mhdw])$/.exec(text) ?? []
  if (unit !== undefined) return new Date(now.getTime() - Number(count) * minutes[unit]! * 60_000).toISOString()
  const date = /^\d{4}-\d\d-\d\d$/.test(text) ? Date.parse(text) : NaN
  // A day that no month has would be one of the next.
  return Number.isNaN(date) || Clock.dayOf(date) !== text ? text : new Date(Clock.timeOf(date)).toISOString()
}
