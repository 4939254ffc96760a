/** Points in time as clients send them. */
import * as Instants from "@tachograph/core/domain/Instant"
import * as Violation from "@tachograph/core/domain/Violation"
import * as DateTime from "effect/DateTime"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import * as SchemaTransformation from "effect/SchemaTransformation"

export const Instant = Schema.String.annotate({ format: "date-time" }).pipe(
  Violation.annotate({ type: "datetime_type", msg: "Input should be a valid datetime" }),
  Schema.decodeTo(
    Schema.DateTimeUtc,
    SchemaTransformation.transformEffect({
      decode: (text: string, options) =>
        Option.match(Instants.parse(text), {
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
