/** Times in queries, as people ask for them. */
import * as Moment from "@tachograph/core/domain/Moment"
import * as Violation from "@tachograph/core/domain/Violation"
import * as DateTime from "effect/DateTime"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import type * as SchemaAST from "effect/SchemaAST"
import * as SchemaTransformation from "effect/SchemaTransformation"

const error = "expected ISO 8601 with a date and a time, a date, today, yesterday, or how long ago, such as 24h or 7d"

const decode = (text: string, options: SchemaAST.ParseOptions) =>
  Option.match(Moment.parse(text), {
    onNone: () => {
      const msg = `Input should be a valid datetime, ${error}`
      return Effect.fail(Violation.issue({ type: "datetime_parsing", msg, ctx: { error } }, text, options))
    },
    onSome: (seenFrom) => Effect.map(DateTime.now, seenFrom)
  })

/** A time in a query. Days begin in UTC unless the handler says another zone. */
export const MomentInQuery = Schema.String.annotate({
  description:
    "ISO 8601, a date, today, yesterday, or how long ago: 30m, 24h, 7d, 4w. Days begin in UTC, or in `time_zone`"
}).pipe(
  Violation.annotate({ type: "datetime_type", msg: "Input should be a valid datetime" }),
  Schema.decodeTo(
    Schema.instanceOf(Moment.Moment),
    SchemaTransformation.transformEffect({ decode, encode: ({ text }: Moment.Moment) => Effect.succeed(text) })
  )
)
