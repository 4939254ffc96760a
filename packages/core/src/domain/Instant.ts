/** Points in time as clients send them: ISO 8601 with a date and a time. UTC if there is no offset. */
import * as DateTime from "effect/DateTime"
import * as Option from "effect/Option"

const iso8601 =
  /^(?<date>\d{4}-\d{2}-\d{2})[Tt ](?<time>\d{2}:\d{2}(?::\d{2}(?:[.,]\d{1,9})?)?)(?<zone>[Zz]|[+-]\d{2}:?\d{2})?$/

/** Years are written with four digits. An offset can lead out of them. */
const firstMs = Date.parse("0000-01-01T00:00:00.000Z")
const lastMs = Date.parse("9999-12-31T23:59:59.999Z")

/** False for `NaN`, which is no time. */
const hasYear = (ms: number): boolean => ms >= firstMs && ms <= lastMs

/** Whether a month has this day, as `2026-01-31`: `Date` reads 30 February as 1 or 2 March. Every month has 28. */
const isDay = (date: string): boolean =>
  date.slice(-2) <= "28" ||
  Option.exists(DateTime.make(`${date}T00:00:00Z`), (day) => DateTime.formatIsoDateUtc(day) === date)

/** None where a text is no such time. */
export const parse = (text: string): Option.Option<DateTime.Utc> => {
  const { date, time, zone = "Z" } = iso8601.exec(text)?.groups ?? {}
  if (date === undefined || time === undefined || !isDay(date)) return Option.none()
  const ms = Date.parse(`${date}T${time.replace(",", ".")}${zone.toUpperCase()}`)
  return hasYear(ms) ? Option.some(DateTime.makeUnsafe(ms)) : Option.none()
}
