/** How many rows a list may be asked for, in a query: 1 to 1,000. */
import * as Violation from "@tachograph/core/domain/Violation"
import { Effect, Schema, SchemaTransformation } from "effect"

const maxLimit = 1_000

export const Limit = Schema.String.pipe(
  Schema.decodeTo(
    Schema.Int,
    SchemaTransformation.transformEffect({
      decode: (text: string, options) => {
        const value = /^\s*[+-]?\d+\s*$/.test(text) ? Number(text) : Number.NaN
        const violation = Number.isNaN(value)
          ? {
              type: "int_parsing",
              msg: "Input should be a valid integer, unable to parse string as an integer"
            }
          : value < 1
            ? Violation.greaterThanEqual(1)
            : value > maxLimit
              ? Violation.lessThanEqual(maxLimit)
              : undefined
        return violation === undefined ? Effect.succeed(value) : Effect.fail(Violation.issue(violation, text, options))
      },
      encode: (value: number) => Effect.succeed(String(value))
    })
  )
)
