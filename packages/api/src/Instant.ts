/** Points in time as clients send them: ISO 8601 with a date and a time. UTC if there is no offset. */
import * as Violation from "@tachograph/core/domain/Violation"
import * as DateTime from "effect/DateTime"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import * as SchemaTransformation from "effect/SchemaTransformation"

const iso8601 =
  /^(?<date>\d{4}-\d{2}-\d{2})[Tt ](?<time>\d{2}:\d{2}(?::\d{2}(?:[.,]\d{1,9})?)?)(?<zone>[Zz]|[+-]\d{2}:?\d{2})?$/

/** Years are written with four digits. An offset can lead out of them. */
const firstMs = Date.parse("0000-01-01T00:00:00.000Z")
const lastMs = Date.parse("9999-12-31T23:59:59.999Z")

/** False for `NaN`, which is no time. */
const hasYear = (ms: number): boolean => ms >= firstMs && ms <= lastMs

/** Whether a month has this day: `Date` reads 30 February as 1 or 2 March. Every month has 28. */
const isDay = (date: string): boolean =>
  date.slice(-2) <= "28" ||
  Option.exists(DateTime.make(`${date}T00:00:00Z`), (day) => DateTime.formatIsoDateUtc(day) === date)

const parse = (text: string): Option.Option<DateTime.Utc> => {
  const { date, time, zone = "Z" } = iso8601.exec(text)?.groups ?? {}
  if (date === undefined || time === undefined || !isDay(date)) return Option.none()
  const ms = Date.parse(`${date}T${time.replace(",", ".")}${zone.toUpperCase()}`)
  return hasYear(ms) ? Option.some(DateTime.makeUnsafe(ms)) : Option.none()
}

export const Instant = Schema.String.annotate({ format: "date-time" }).pipe(
  Violation.annotate({ type: "datetime_type", msg: "Input should be a valid datetime" }),
  Schema.decodeTo(
    Schema.DateTimeUtc,
    SchemaTransformation.transformEffect({
      decode: (text: string, options) =>
        Option.match(parse(text), {
          onNone: () => {
            const error = "expected ISO 8601 with a date and a time"
            const msg = `Input should be a valid datetime, ${error}`
            return Effect.fail(Violation.issue({ type: "datetime_parsing", msg, ctx: { error } }, text, options))
          },
          onSome: Effect.succeed
        }),
      encode: (instant: DateTime.Utc) => Effect.succeed(DateTime.formatIso(instant))
    })
  )
)
