/** Stretches of time, in the slots of which charts and tables show sums: hours or days of the zone of the pages. */
import type { UsageRow } from "../server/Types.ts"
import * as Zone from "../settings/Zone.ts"
import * as Clock from "../text/Clock.ts"
import * as Format from "../text/Format.ts"

export interface Period {
  /** How the place names it. */
  readonly name: string
  readonly title: string
  /** What a slot is, as `group_by` names it. */
  readonly by: "hour" | "day"
  readonly count: number
  /** The only day of it, such as `2026-11-28`. Without one, it lasts until now. */
  readonly day?: string
}

export const all: ReadonlyArray<Period> = [
  { name: "day", title: "24 hours", by: "hour", count: 24 },
  { name: "week", title: "7 days", by: "day", count: 7 },
  { name: "month", title: "30 days", by: "day", count: 30 },
  { name: "quarter", title: "90 days", by: "day", count: 90 }
]

export const month = all[2]!

export const byName = (name: string | null): Period => all.find((period) => period.name === name) ?? month

const startOf = (day: string): number => Clock.timeOf(Date.parse(day))
const afterDay = (day: string): string => Clock.dayOf(Date.parse(day) + Clock.dayMs)

/** How a place names the day on which it is opened. */
export const today = "today"

/** The hours of a day. Undefined for what is none. */
export const ofDay = (named: string | null): Period | undefined => {
  const day = named === today ? dayOf(Date.now()) : named
  if (day === null || !/^\d{4}-\d\d-\d\d$/.test(day) || Number.isNaN(Date.parse(day))) return undefined
  const title = Format.weekday(new Date(startOf(day)).toISOString())
  const count = Math.ceil((startOf(afterDay(day)) - startOf(day)) / Clock.hourMs)
  return { name: day, title, by: "hour", count, day }
}

/** The beginnings of its slots (epoch ms), the last of which is under way. */
export const slotsOf = ({ by, count, day }: Period, now = new Date()): ReadonlyArray<number> => {
  const ms = now.getTime()
  if (by === "hour") {
    // Hours of zones whose offset is no whole hour begin within an hour of UTC.
    const first = day === undefined ? ms - (Clock.at(ms) % Clock.hourMs) - (count - 1) * Clock.hourMs : startOf(day)
    return Array.from({ length: count }, (_, index) => first + index * Clock.hourMs)
  }
  // By the calendar, because a day may have 23 or 25 hours.
  const today = Date.parse(Clock.dayOf(Clock.at(ms)))
  return Array.from({ length: count }, (_, index) => Clock.timeOf(today - (count - 1 - index) * Clock.dayMs))
}

/** When the slot of a row began (epoch ms). */
export const slotOf = ({ day, hour }: UsageRow): number =>
  typeof hour === "string" ? Date.parse(hour) : startOf(day ?? "")

/** When the next one begins (epoch ms). */
export const endOf = ({ by }: Period, slot: number): number =>
  by === "hour" ? slot + Clock.hourMs : startOf(afterDay(dayOf(slot)))

/** The day of a slot, such as `2026-11-28`. */
export const dayOf = (slot: number): string => Clock.dayOf(Clock.at(slot))

/** On an axis. */
export const show = ({ by }: Period, slot: number): string => {
  const iso = new Date(slot).toISOString()
  return by === "hour" ? Format.timeOfDay(iso).slice(0, 5) : Format.dayOf(iso)
}

/** With its day. */
export const showWhole = ({ by }: Period, slot: number): string => {
  const iso = new Date(slot).toISOString()
  return by === "hour" ? `${Format.weekday(iso)}, ${Format.timeOfDay(iso).slice(0, 5)}` : Format.weekday(iso)
}

/** What `usage` is asked for. */
export const queryOf = (
  period: Period
): { readonly after: string; readonly before?: string; readonly time_zone: string } => {
  const slots = slotsOf(period)
  return {
    after: new Date(slots[0]!).toISOString(),
    ...(period.day === undefined ? {} : { before: new Date(startOf(afterDay(period.day))).toISOString() }),
    time_zone: Zone.get()
  }
}
