/** Times by the clocks of the zone of the pages. A clock is what they show, as if it were UTC (ms). */
import * as Zone from "../settings/Zone.ts"

export const hourMs = 3_600_000
export const dayMs = 24 * hourMs

const formats = new Map<string, Intl.DateTimeFormat>()

const formatOf = (zone: string): Intl.DateTimeFormat => {
  const known = formats.get(zone)
  if (known !== undefined) return known
  const digits = "2-digit"
  const time = { hour: digits, minute: digits, second: digits, hourCycle: "h23" } as const
  const format = new Intl.DateTimeFormat("en-US", {
    timeZone: zone,
    year: "numeric",
    month: digits,
    day: digits,
    ...time
  })
  formats.set(zone, format)
  return format
}

/** What clocks show at a time (epoch ms). */
export const at = (ms: number): number => {
  const parts = new Map(
    formatOf(Zone.get())
      .formatToParts(ms)
      .map(({ type, value }) => [type, Number(value)])
  )
  const [year, month, day] = [parts.get("year")!, parts.get("month")!, parts.get("day")!]
  const part = (ms % 1_000) + (ms < 0 && ms % 1_000 !== 0 ? 1_000 : 0)
  return Date.UTC(year, month - 1, day, parts.get("hour"), parts.get("minute"), parts.get("second")) + part
}

/** When clocks show this (epoch ms): the first time where they do so twice, and when they jump over it where they never do. */
export const timeOf = (clock: number): number => {
  const times = [clock - dayMs, clock + dayMs].map((near) => clock - (at(near) - near))
  const exact = times.filter((time) => at(time) === clock)
  return exact.length > 0 ? Math.min(...exact) : Math.max(...times)
}

/** The day of a clock, such as `2026-11-28`. */
export const dayOf = (clock: number): string => new Date(clock).toISOString().slice(0, 10)
