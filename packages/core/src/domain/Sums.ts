/** What calls add up to. */
import { formatUsd, usdPattern } from "@tachograph/prices/Usd"
import * as Schema from "effect/Schema"
import * as SchemaTransformation from "effect/SchemaTransformation"

/** US dollars: a decimal number as text, and in memory whole billionths. A sum may be more than a number can hold. */
export const NanoDollars = Schema.String.check(Schema.isPattern(usdPattern)).pipe(
  Schema.decodeTo(
    Schema.BigInt,
    SchemaTransformation.transform({
      decode: (usd) => {
        const [dollars = "", fraction = ""] = usd.split(".")
        return BigInt(dollars + fraction.padEnd(9, "0"))
      },
      encode: (nanoDollars: bigint) => formatUsd(nanoDollars)
    })
  )
)

/** What some events add up to. Tokens that a call does not say count as none. */
export const sumFields = {
  events: Schema.Int,
  /** Calls whose output is an error. */
  errors: Schema.Int,
  /** Calls without a cost. */
  unpricedEvents: Schema.Int,
  /** Calls whose cost leaves something out, because the price list has no price for it. */
  partlyPricedEvents: Schema.Int,
  inputTokens: Schema.Int,
  outputTokens: Schema.Int,
  cacheReadTokens: Schema.Int,
  cacheWriteTokens: Schema.Int,
  reasoningTokens: Schema.Int,
  /** Null if no call has a cost. */
  costUsd: Schema.NullOr(NanoDollars)
}
const Sums = Schema.Struct(sumFields)
export type Sums = typeof Sums.Type
