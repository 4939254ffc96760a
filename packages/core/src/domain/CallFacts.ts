/** What a call was and what it cost, read from its payload. What cannot be read is null. */
import type { StopReason as FormatsStopReason } from "@tachograph/formats"
import type { Unpriced as PricesUnpriced, UnpricedPart as PricesUnpricedPart } from "@tachograph/prices"
import { formatUsd, parseUsd, usdPattern } from "@tachograph/prices/Usd"
import * as Schema from "effect/Schema"
import * as SchemaTransformation from "effect/SchemaTransformation"
import * as Codes from "./Codes.ts"

/** Why a model stopped, in one word for all providers. */
export const stopReasons = {
  end: 0,
  length: 1,
  tool_calls: 2,
  refusal: 3,
  content_filter: 4,
  pause: 5,
  error: 6,
  other: 7
} as const satisfies Codes.Codes<FormatsStopReason>
export const StopReason = Schema.Literals(Codes.wordsOf(stopReasons))
export type StopReason = FormatsStopReason

/** Why a call has no cost. */
export const unpricedReasons = {
  "no-model": 0,
  "no-usage": 1,
  "usage-invalid": 2,
  "unknown-model": 3,
  "service-tier": 4
} as const satisfies Codes.Codes<PricesUnpriced>
export const Unpriced = Schema.Literals(Codes.wordsOf(unpricedReasons))
export type Unpriced = PricesUnpriced

/** What a cost by the list leaves out. Each is a bit of a number: up to 14. */
export const unpricedParts = {
  audio: 0,
  images: 1,
  video: 2,
  cache_write_1h: 3,
  citations: 4,
  web_search: 5,
  file_search: 6,
  code_interpreter: 7,
  maps: 8,
  advisor: 9
} as const satisfies Codes.Codes<PricesUnpricedPart>
export const UnpricedPart = Schema.Literals(Codes.wordsOf(unpricedParts))
export type UnpricedPart = PricesUnpricedPart

/** US dollars: a decimal number as text, and in memory whole billionths, so that sums are exact. */
const NanoDollars = Schema.String.check(Schema.isPattern(usdPattern)).pipe(
  Schema.decodeTo(Schema.Int, SchemaTransformation.transform({ decode: parseUsd, encode: formatUsd }))
)

const tokens = Schema.NullOr(Schema.Int)
const label = Schema.NullOr(Schema.String)

/** `docs/formats.md` says where each fact is read from. Tokens mean the same for every provider. */
export const CallFacts = Schema.Struct({
  provider: label,
  /** The model that was asked for. */
  model: label,
  /** The model that answered. */
  responseModel: label,
  /** All that went in, whether cached or not. */
  inputTokens: tokens,
  /** All that came out. */
  outputTokens: tokens,
  /** Parts of the input. */
  cacheReadTokens: tokens,
  cacheWriteTokens: tokens,
  /** A part of the output. */
  reasoningTokens: tokens,
  stopReason: Schema.NullOr(StopReason),
  /** The provider's own word. */
  providerStopReason: label,
  /** The name of each tool that the answer calls, in order. */
  toolCalls: Schema.NullOr(Schema.Array(Schema.String)),
  /** Null if the output is not an error. */
  errorType: label,
  /** The provider's code, which may be what `errorType` is. Null where it is only an HTTP status. */
  errorCode: label,
  /** The HTTP status that the error itself names. */
  errorStatus: Schema.NullOr(Schema.Int),
  /** What the answer itself says, else what the list does. */
  costUsd: Schema.NullOr(NanoDollars),
  statedCostUsd: Schema.NullOr(NanoDollars),
  /** What the list says where the answer says something itself. */
  listCostUsd: Schema.NullOr(NanoDollars),
  /** The provider and model of the price list by which its cost was computed, such as `openai/gpt-4o`. */
  price: label,
  /** Whether the price is that of the very model, and not of its family or of another provider, and of the whole call. */
  priceIsExact: Schema.NullOr(Schema.Boolean),
  /** What that cost leaves out, because the list has no price for it. Null without a price. */
  unpricedParts: Schema.NullOr(Schema.Array(UnpricedPart)),
  unpriced: Schema.NullOr(Unpriced)
})
export type CallFacts = typeof CallFacts.Type
