/** The number of rows to return, as a query parameter: 1 to 1,000. */
import * as Violation from "@tachograph/core/domain/Violation"
import { Effect, Schema, SchemaTransformation } from "effect"

/** Rows of a page, unless a query says otherwise. */
export const defaultLimit = 100

const maxLimit = 1_000

const violationOf = (value: number) => {
  if (Number.isNaN(value)) {
    return { type: "int_parsing", msg: "Input should be a valid integer, unable to parse string as an integer" }
  }
  if (value < 1) return Violation.greaterThanEqual(1)
  return value > maxLimit ? Violation.lessThanEqual(maxLimit) : undefined
}

export const Limit = Schema.String.pipe(
  Schema.decodeTo(
    Schema.Int,
    SchemaTransformation.transformEffect({
      decode: (text: string, options) => {
        const value = /^\s*[+-]?\d+\s*$/.test(text) ? Number(text) : Number.NaN
        const violation = violationOf(value)
        return violation === undefined ? Effect.succeed(value) : Effect.fail(Violation.issue(violation, text, options))
      },
      encode: (value: number) => Effect.succeed(String(value))
    })
  )
)
