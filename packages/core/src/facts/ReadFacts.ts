/** Reads the facts of a call from its payload, within the bounds of the storages' columns, and prices it. */
import { type Billing, type Facts, type Format, formats, type Request } from "@tachograph/formats"
import type { PriceList, RequestUsage, Usage } from "@tachograph/prices"
import type * as DateTime from "effect/DateTime"
import { type CallFacts, type UnpricedPart, unpricedParts } from "../domain/CallFacts.ts"
import type { Api } from "../domain/Event.ts"
import { firstErrorStatus } from "../domain/Failure.ts"

/** What the formats read of `inputs` for the facts, each path once. */
export const inputsPaths: ReadonlyArray<ReadonlyArray<string>> = Array.from(
  new Map(Object.values(formats).flatMap(({ factPaths }) => factPaths.map((path) => [path.join("\n"), path]))).values()
)

/** In code points, as columns count them: longer than any real value. */
export const maxModelLength = 255
export const maxWordLength = 100

/** Names of tool calls, as many as fit in these UTF-16 units with a separator each. An answer has some; a hostile one, millions. */
export const maxToolCallsLength = 1000

/** The range of an integer column, and more tokens than any call takes. */
export const maxTokens = 2 ** 31 - 1

/** Whether a text has at most `maxLength` code points, each of which is one or two UTF-16 units. */
const fits = (value: string, maxLength: number): boolean =>
  value.length <= maxLength || (value.length <= 2 * maxLength && Array.from(value).length <= maxLength)

/** Names of models, providers and reasons: null if no column takes it. */
const label = (value: string | null, maxLength: number): string | null =>
  value !== null && fits(value, maxLength) && value.isWellFormed() && !value.includes("\u0000") ? value : null

const word = (value: string | null): string | null => label(value, maxWordLength)

/** What an error says counts before the status of its response, and any status says more than `unknown`. */
const errorTypeOf = (value: string | null, httpStatus: number | null | undefined): string | null =>
  errorType((value ?? "unknown") === "unknown" && (httpStatus ?? 0) >= firstErrorStatus ? String(httpStatus) : value)

/** An error has a type, whatever it is: what no column takes is cut and cleaned. */
const errorType = (value: string | null): string | null =>
  value === null ? null : value.slice(0, maxWordLength).toWellFormed().replaceAll("\u0000", "\ufffd") || "unknown"

const tokens = (value: number | null): number | null => (value !== null && value <= maxTokens ? value : null)

/** Line feeds separate the names in a column. */
const toolCalls = (names: ReadonlyArray<string> | null): ReadonlyArray<string> | null => {
  if (names === null) return null
  const kept: Array<string> = []
  let length = 0
  for (const name of names) {
    const cleaned = name.toWellFormed().replaceAll(/[^\P{Cc}]/gu, "\ufffd")
    length += cleaned.length + 1
    if (length > maxToolCallsLength) break
    kept.push(cleaned)
  }
  return kept
}

export type Cost = Pick<
  CallFacts,
  "costUsd" | "statedCostUsd" | "listCostUsd" | "price" | "priceIsExact" | "unpricedParts" | "unpriced"
>

/** What the payload of a call says: its facts, and what its price depends on. */
export interface FactsRead {
  readonly facts: Omit<CallFacts, keyof Cost>
  readonly usage: Usage
  /** What the answer says that it cost, in billionths of a dollar. */
  readonly statedCost: number | null
}

/** Each field by itself: to spread the two objects takes longer than to read them. */
const usageOf = (facts: Facts, billing: Billing, isCut: boolean): Usage => ({
  provider: facts.provider,
  model: facts.model,
  response_model: facts.response_model,
  // What no column takes is no count that a price can be of.
  input_tokens: tokens(facts.input_tokens),
  output_tokens: isCut ? null : tokens(facts.output_tokens),
  cache_read_tokens: facts.cache_read_tokens,
  cache_write_tokens: facts.cache_write_tokens,
  reasoning_tokens: facts.reasoning_tokens,
  cache_write_1h_tokens: billing.cache_write_1h_tokens,
  input_audio_tokens: billing.input_audio_tokens,
  input_image_tokens: billing.input_image_tokens,
  input_video_tokens: billing.input_video_tokens,
  cache_audio_read_tokens: billing.cache_audio_read_tokens,
  cache_image_read_tokens: billing.cache_image_read_tokens,
  output_audio_tokens: billing.output_audio_tokens,
  output_image_tokens: billing.output_image_tokens,
  output_video_tokens: billing.output_video_tokens,
  citation_tokens: billing.citation_tokens,
  web_searches: billing.web_searches,
  file_searches: billing.file_searches,
  uncounted: billing.uncounted,
  service_tier: billing.service_tier,
  requests: isCut || billing.requests === null ? null : billing.requests.map((request) => requestOf(facts, request))
})

const requestOf = (facts: Facts, request: Request): RequestUsage => ({
  ...request,
  provider: request.provider ?? facts.provider,
  model: request.model ?? (request.response_model === null ? facts.model : null),
  response_model: request.response_model ?? (request.model === null ? facts.response_model : null),
  input_tokens: tokens(request.input_tokens),
  output_tokens: tokens(request.output_tokens)
})

/** What an event says of its call beside the payload. */
export interface Beside {
  /** The model that was asked for, where `inputs` do not say it: some providers take it in the URL. */
  readonly model?: string | null | undefined
  /** The status of the response. */
  readonly httpStatus?: number | null | undefined
}

/** `inputs` and `output` are parsed JSON. In `inputs`, no more than what stands at `inputsPaths` is needed. */
export const read = (api: Api, inputs: unknown, output: unknown, { httpStatus, model }: Beside = {}): FactsRead => {
  const format: Format<never> = formats[api]
  const read = format.facts(inputs, output)
  const facts = read.model === null && model ? { ...read, model } : read
  const billing = format.billing(inputs, output)
  return {
    facts: {
      provider: word(facts.provider),
      model: label(facts.model, maxModelLength),
      responseModel: label(facts.response_model, maxModelLength),
      inputTokens: tokens(facts.input_tokens),
      outputTokens: tokens(facts.output_tokens),
      cacheReadTokens: tokens(facts.cache_read_tokens),
      cacheWriteTokens: tokens(facts.cache_write_tokens),
      reasoningTokens: tokens(facts.reasoning_tokens),
      stopReason: facts.stop_reason,
      providerStopReason: word(facts.provider_stop_reason),
      toolCalls: toolCalls(facts.tool_calls),
      errorType: errorTypeOf(facts.error_type, httpStatus),
      errorCode: facts.error_type === null ? null : word(facts.error_code),
      errorStatus: facts.error_status
    },
    usage: usageOf(facts, billing, format.isCut?.(output) === true),
    statedCost: nanoDollars(billing.stated_cost)
  }
}

/** Null if it is more than a cost can be. */
const nanoDollars = (dollars: number | null): number | null => {
  const amount = dollars === null ? null : Math.round(dollars * 1e9)
  return amount !== null && Number.isSafeInteger(amount) ? amount : null
}

/** In the order in which they are stored. */
const asStored = (parts: ReadonlyArray<UnpricedPart>): ReadonlyArray<UnpricedPart> =>
  parts.length < 2 ? parts : parts.toSorted((a, b) => unpricedParts[a] - unpricedParts[b])

/** What a call cost that was made at a time: what the answer says, else what the list does. */
export const costOf = (prices: PriceList.PriceList, { statedCost, usage }: FactsRead, at: DateTime.Utc): Cost => {
  const cost = prices.cost(usage, new Date(at.epochMilliseconds))
  const isPriced = !("unpriced" in cost)
  const ofList = isPriced ? cost.nanoDollars : null
  return {
    costUsd: statedCost ?? ofList,
    statedCostUsd: statedCost,
    listCostUsd: statedCost === null ? null : ofList,
    price: isPriced ? cost.price : null,
    priceIsExact: isPriced ? cost.isExact : null,
    unpricedParts: isPriced ? asStored(cost.unpricedParts) : null,
    unpriced: isPriced || statedCost !== null ? null : cost.unpriced
  }
}
