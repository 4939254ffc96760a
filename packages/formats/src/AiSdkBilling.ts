/** On what the price of a call of the AI SDK depends: the SDK hands out what the provider counted, by the provider's own names. */
import { stepsOf } from "./AiSdkUsage.ts"
import * as AnthropicUsage from "./AnthropicUsage.ts"
import type { Billing, Json } from "./Format.ts"
import { tokensOfModality } from "./GoogleUsage.ts"
import { count, first, get, isEmpty, isObject, list, sum, text } from "./json/Read.ts"

/** Where the usage of a provider is, whose steps do not have it as `raw`. */
const usagesInMetadata = [
  ["anthropic", "usage"],
  ["google", "usageMetadata"],
  ["vertex", "usageMetadata"],
  ["googleVertex", "usageMetadata"]
] as const

const rawUsageOf = (step: unknown): Json | undefined =>
  get(step, "usage", "raw") ??
  usagesInMetadata.map((path) => get(step, "providerMetadata", ...path)).find((usage) => !isEmpty(usage))

/** Results of the provider's search that were none: it opened a page, or looked for words in one. */
const isOtherAction = (block: Json): boolean =>
  (text(get(block, "output", "action", "type") ?? get(block, "result", "action", "type")) ?? "search") !== "search"

/** The searches of one step: those that the provider counted, else those that its answer shows. */
const searchesOf = (step: unknown, raw: Json | undefined): number | null => {
  const counted = count(get(raw, "server_tool_use", "web_search_requests"))
  if (counted !== null) return counted
  const queries = ["google", "vertex", "googleVertex"]
    .map((name) => get(step, "providerMetadata", name, "groundingMetadata", "webSearchQueries"))
    .find((each) => Array.isArray(each))
  if (queries !== undefined) return list(queries).filter((query) => !isEmpty(query)).length
  const blocks = list(get(step, "content")).filter(
    (block) => get(block, "providerExecuted") === true && /^web_search/.test(text(get(block, "toolName")) ?? "")
  )
  const others = new Set(blocks.filter(isOtherAction).map((block) => get(block, "toolCallId")))
  const calls = blocks.filter((block) => get(block, "type") === "tool-call" && !others.has(get(block, "toolCallId")))
  return calls.length === 0 ? null : calls.length
}

const tierOf = (raw: Json | undefined): string | null =>
  AnthropicUsage.tierOf(raw) ?? text(get(raw, "serviceTier")) ?? text(get(raw, "trafficType"))

export const billingOf = (output: unknown): Billing => {
  const steps = stepsOf(output)
  const raws = steps.map(rawUsageOf)
  const add = (countOf: (raw: Json | undefined) => number | null) => sum(...raws.map(countOf))
  const inputDetails = (raw: Json | undefined) => get(raw, "prompt_tokens_details") ?? get(raw, "input_tokens_details")
  const outputDetails = (raw: Json | undefined) =>
    get(raw, "completion_tokens_details") ?? get(raw, "output_tokens_details")
  const metadata = steps.map((step) => get(step, "providerMetadata")).findLast(isObject) ?? {}
  const tiers = Object.values(metadata).map((values) => text(get(values, "serviceTier")))
  return {
    service_tier: first(...raws.map(tierOf), ...tiers),
    cache_write_1h_tokens: add((raw) => count(get(raw, "cache_creation", "ephemeral_1h_input_tokens"))),
    input_audio_tokens: add(
      (raw) =>
        count(get(inputDetails(raw), "audio_tokens")) ??
        tokensOfModality("AUDIO", get(raw, "promptTokensDetails"), get(raw, "toolUsePromptTokensDetails"))
    ),
    cache_audio_read_tokens: add(
      (raw) =>
        count(get(inputDetails(raw), "cached_tokens_details", "audio_tokens")) ??
        tokensOfModality("AUDIO", get(raw, "cacheTokensDetails"))
    ),
    output_audio_tokens: add(
      (raw) =>
        count(get(outputDetails(raw), "audio_tokens")) ?? tokensOfModality("AUDIO", get(raw, "candidatesTokensDetails"))
    ),
    output_image_tokens: add(
      (raw) =>
        count(get(outputDetails(raw), "image_tokens")) ?? tokensOfModality("IMAGE", get(raw, "candidatesTokensDetails"))
    ),
    web_searches: sum(...steps.map((step, index) => searchesOf(step, raws[index])))
  }
}
