/**
 * Times as people ask for them: ISO 8601, a day (`2026-01-31`, `today`, `yesterday`), or how long ago (`30m`, `24h`, `7d`, `4w`). A day is
 * its first moment, in the time zone that is asked for.
 */
import * as DateTime from "effect/DateTime"
import * as Option from "effect/Option"
import * as Instant from "./Instant.ts"
import * as TimeSpan from "./TimeSpan.ts"

/** Completes the message "expected …". */
export const expected = "a time such as 2026-01-31, 2026-01-31T00:00:00Z, today, yesterday, 30m, 24h, 7d or 4w"

/** `zone` is an IANA name that is known. */
type At = (now: DateTime.Utc, zone: string) => DateTime.Utc

const midnight =
  (date: string): At =>
  (_, zone) =>
    DateTime.toUtc(DateTime.makeZonedUnsafe(`${date}T00:00:00`, { timeZone: zone, adjustForTimeZone: true }))

const startOfDay: At = (at, zone) => DateTime.setZoneNamedUnsafe(at, zone).pipe(DateTime.startOf("day"), DateTime.toUtc)

const days: ReadonlyMap<string, At> = new Map([
  ["today", startOfDay],
  // The day before ends where today begins, which need not be a midnight, nor a day after it began.
  ["yesterday", (now, zone) => startOfDay(DateTime.subtract(startOfDay(now, zone), { milliseconds: 1 }), zone)]
])

const isDate = /^\d{4}-\d\d-\d\d$/

const atOf = (text: string): Option.Option<At> => {
  const day = days.get(text)
  if (day !== undefined) return Option.some(day)
  const instant = Instant.parse(isDate.test(text) ? `${text}T00:00:00Z` : text)
  if (Option.isSome(instant)) return Option.some(isDate.test(text) ? midnight(text) : () => instant.value)
  return Option.map(
    TimeSpan.parse(text),
    (span): At =>
      (now) =>
        DateTime.subtractDuration(now, span)
  )
}

/** A time, seen from when it was asked for. */
export class Moment {
  readonly text: string
  readonly #at: At
  readonly #now: DateTime.Utc

  constructor(text: string, at: At, now: DateTime.Utc) {
    this.text = text
    this.#at = at
    this.#now = now
  }

  /** In a time zone by its IANA name, which is known. */
  in(zone = "UTC"): DateTime.Utc {
    return this.#at(this.#now, zone)
  }
}

/** None where a text is no time. */
export const parse = (text: string): Option.Option<(now: DateTime.Utc) => Moment> =>
  Option.map(atOf(text), (at) => (now) => new Moment(text, at, now))
