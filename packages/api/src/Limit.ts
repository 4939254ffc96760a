/** Whole numbers as query parameters, and the number of rows to return: 1 to 1,000. */
import * as Violation from "@tachograph/core/domain/Violation"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import * as SchemaTransformation from "effect/SchemaTransformation"

/** Rows of a page, unless a query says otherwise. */
export const defaultLimit = 100

export const maxLimit = 1_000

const violationOf = (value: number, min: number, max: number) => {
  if (Number.isNaN(value)) {
    return { type: "int_parsing", msg: "Input should be a valid integer, unable to parse string as an integer" }
  }
  if (value < min) return Violation.greaterThanEqual(min)
  return value > max ? Violation.lessThanEqual(max) : undefined
}

/** A number from `min` to `max`, or of any size. The format tells generators of clients that the text is a number. */
export const wholeNumber = (min: number, max = Number.POSITIVE_INFINITY) => {
  const isBounded = Number.isFinite(max)
  const pattern = isBounded ? /^\s*[+-]?\d+\s*$/ : /^\s*[+-]?\d{1,15}\s*$/
  return Schema.String.annotate({ format: isBounded ? "int32" : "int64" }).pipe(
    Schema.decodeTo(
      Schema.Int,
      SchemaTransformation.transformEffect({
        decode: (text: string, options) => {
          const value = pattern.test(text) ? Number(text) : Number.NaN
          const violation = violationOf(value, min, max)
          return violation === undefined
            ? Effect.succeed(value)
            : Effect.fail(Violation.issue(violation, text, options))
        },
        encode: (value: number) => Effect.succeed(String(value))
      })
    )
  )
}

export const Limit = wholeNumber(1, maxLimit)
