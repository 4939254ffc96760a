/** A time of an option: `2026-01-31`, `2026-01-31T10:00:00Z`, or `30m`, `12h`, `90d`, `4w` ago. UTC without an offset. */
import * as DateTime from "effect/DateTime"
import * as Option from "effect/Option"
import * as TimeSpan from "./TimeSpan.ts"

/** Completes the message "expected …". */
export const expected = "a time such as 2026-01-31, 2026-01-31T00:00:00Z, 30m, 12h, 90d or 4w"

const isoTime = /^\d{4}-\d\d-\d\d(T\d\d:\d\d(:\d\d(\.\d{1,9})?)?(Z|[+-]\d\d:\d\d)?)?$/

/** The time, seen from now. */
export const parse = (text: string): Option.Option<(now: DateTime.Utc) => DateTime.Utc> =>
  Option.orElse(
    Option.map(TimeSpan.parse(text), (span) => (now: DateTime.Utc) => DateTime.subtractDuration(now, span)),
    () => Option.map(isoTime.test(text) ? DateTime.make(text) : Option.none(), (time) => () => DateTime.toUtc(time))
  )
