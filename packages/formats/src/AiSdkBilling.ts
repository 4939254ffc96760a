/** On what the price of a call of the AI SDK depends: the SDK hands out what the provider counted, by the provider's own names. */
import { stepsOf } from "./AiSdkUsage.ts"
import * as AnthropicUsage from "./AnthropicUsage.ts"
import type { Billing, Json } from "./Format.ts"
import { tokensOfModality } from "./GoogleUsage.ts"
import { count, first, get, isEmpty, isObject, list, sum, text } from "./json/Read.ts"

/** Where OpenAI and Google count tokens by modality. */
const inputs = ["prompt_tokens_details", "input_tokens_details", "promptTokensDetails", "toolUsePromptTokensDetails"]
const outputs = ["completion_tokens_details", "output_tokens_details", "candidatesTokensDetails"]

/** What is at the first of some paths that is not empty. */
const find = (value: unknown, ...paths: ReadonlyArray<ReadonlyArray<string>>): Json | undefined =>
  paths.map((path) => get(value, ...path)).find((found) => !isEmpty(found))

/** A step, what its provider counted, and what else the provider says of it. */
const served = (step: unknown) => {
  const metadata = get(step, "providerMetadata")
  const said = isObject(metadata) ? Object.values(metadata) : []
  const raw = get(step, "usage", "raw") ?? said.map((each) => find(each, ["usage"], ["usageMetadata"])).find(isObject)
  return { step, raw, said }
}

/** Results of the provider's search that were none: it opened a page, or looked for words in one. */
const isOtherAction = (block: Json): boolean =>
  (find(block, ["output", "action", "type"], ["result", "action", "type"]) ?? "search") !== "search"

/** The searches of one step: those that the provider counted, else those that its answer shows. */
const searchesOf = ({ raw, said, step }: ReturnType<typeof served>): number | null => {
  const counted = count(get(raw, "server_tool_use", "web_search_requests"))
  if (counted !== null) return counted
  const queries = said.map((each) => get(each, "groundingMetadata", "webSearchQueries")).find(Array.isArray)
  if (queries !== undefined) return list(queries).filter((query) => !isEmpty(query)).length
  const blocks = list(get(step, "content")).filter(
    (block) => get(block, "providerExecuted") === true && text(get(block, "toolName"))?.startsWith("web_search")
  )
  const idOf = (block: Json) => get(block, "toolCallId")
  const others = new Set(blocks.filter(isOtherAction).map(idOf))
  return blocks.filter((block) => get(block, "type") === "tool-call" && !others.has(idOf(block))).length || null
}

export const billingOf = (output: unknown): Billing => {
  const steps = stepsOf(output).map(served)
  const raws = steps.map(({ raw }) => raw)
  const tokens = (modality: "AUDIO" | "IMAGE", keys: ReadonlyArray<string>, ...path: ReadonlyArray<string>) =>
    sum(
      ...raws.flatMap((raw) =>
        keys
          .map((key) => get(raw, key, ...path))
          .map(
            (details) => tokensOfModality(modality, details) ?? count(get(details, `${modality.toLowerCase()}_tokens`))
          )
      )
    )
  return {
    service_tier: first(
      ...raws.map((raw) => AnthropicUsage.tierOf(raw) ?? text(find(raw, ["serviceTier"], ["trafficType"]))),
      ...steps.toReversed().flatMap(({ said }) => said.map((each) => text(get(each, "serviceTier"))))
    ),
    cache_write_1h_tokens: sum(...raws.map((raw) => count(get(raw, "cache_creation", "ephemeral_1h_input_tokens")))),
    input_audio_tokens: tokens("AUDIO", inputs),
    cache_audio_read_tokens:
      tokens("AUDIO", ["cacheTokensDetails"]) ?? tokens("AUDIO", inputs, "cached_tokens_details"),
    output_audio_tokens: tokens("AUDIO", outputs),
    output_image_tokens: tokens("IMAGE", outputs),
    web_searches: sum(...steps.map(searchesOf))
  }
}
