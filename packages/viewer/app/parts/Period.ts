/** Stretches of time until now, in the slots of which charts and tables show sums: hours or days of the zone of the pages. */
import type { UsageRow } from "../server/Types.ts"
import * as Format from "../text/Format.ts"

export interface Period {
  /** How the place names it. */
  readonly name: string
  readonly title: string
  /** What a slot is, as `group_by` names it. */
  readonly by: "hour" | "day"
  readonly count: number
}

export const all: ReadonlyArray<Period> = [
  { name: "day", title: "24 hours", by: "hour", count: 24 },
  { name: "week", title: "7 days", by: "day", count: 7 },
  { name: "month", title: "30 days", by: "day", count: 30 },
  { name: "quarter", title: "90 days", by: "day", count: 90 }
]

export const month = all[2]!

export const byName = (name: string | null): Period => all.find((period) => period.name === name) ?? month

const hourMs = 3_600_000

/** The beginnings of its slots (epoch ms), the last of which is under way. */
export const slotsOf = ({ by, count }: Period, now = new Date()): ReadonlyArray<number> => {
  if (by === "hour") {
    // Hours of zones whose offset is no whole hour begin within an hour of UTC. So does `setMinutes`.
    const last = new Date(now).setMinutes(0, 0, 0)
    return Array.from({ length: count }, (_, index) => last - (count - 1 - index) * hourMs)
  }
  // By the calendar, because a day may have 23 or 25 hours.
  const [year, month, day] = [now.getFullYear(), now.getMonth(), now.getDate()]
  return Array.from({ length: count }, (_, index) => new Date(year, month, day - (count - 1 - index)).getTime())
}

/** When the slot of a row began (epoch ms). */
export const slotOf = ({ day, hour }: UsageRow): number =>
  typeof hour === "string" ? Date.parse(hour) : new Date(`${day}T00:00:00`).getTime()

/** When the next one begins (epoch ms). */
export const endOf = ({ by }: Period, slot: number): number => {
  if (by === "hour") return slot + hourMs
  const date = new Date(slot)
  return new Date(date.getFullYear(), date.getMonth(), date.getDate() + 1).getTime()
}

export const show = ({ by }: Period, slot: number): string => {
  const iso = new Date(slot).toISOString()
  return by === "hour" ? Format.timeOfDay(iso).slice(0, 5) : Format.dayOf(iso)
}

/** What `usage` is asked for. */
export const queryOf = (period: Period): { readonly after: string; readonly time_zone: string } => ({
  after: new Date(slotsOf(period)[0]!).toISOString(),
  time_zone: Format.zone
})
