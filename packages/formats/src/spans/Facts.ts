/** What a call was that a span tells, and on what its price depends. */
import { billingOf } from "../aisdk/Billing.ts"
import * as AiSdkFacts from "../aisdk/Facts.ts"
import { stopReasons as ofAnthropic } from "../anthropic/StopReasons.ts"
import { errorOf } from "../facts/Errors.ts"
import { providerOfModel } from "../facts/Providers.ts"
import type { Facts, ReadBilling, StopReason } from "../Format.ts"
import { stopReasons as ofGoogle } from "../google/StopReasons.ts"
import { get, rest, text } from "../json/Read.ts"
import { stopReasons as ofOpenAi } from "../openai/ChatCompletionsFacts.ts"
import { scopeKey, valueAt, wordOf } from "./Attributes.ts"
import { isAnswer, isOfAiSdk, messagesIn, reasonOf } from "./Answers.ts"
import { bodyIn } from "./Bodies.ts"
import { longCacheWrites, tokensIn } from "./Usage.ts"

const providerNames = ["gen_ai.provider.name", "gen_ai.system", "ai.model.provider", "llm.provider", "llm.system"]

const modelNames = [
  ...["gen_ai.request.model", "ai.model.id", "llm.request.model_name", "llm.model_name"],
  ...["langfuse.observation.model.name", "model"]
]

/** What facts are read from in the request. */
export const factPaths: ReadonlyArray<ReadonlyArray<string>> = [
  ...[scopeKey, ...providerNames, ...modelNames],
  ...["genkit:name", "metadata"]
].map((name) => [name])

const responseModelNames = ["gen_ai.response.model", "ai.response.model", "llm.response.model_name"]

const tierNames = [
  "gen_ai.openai.response.service_tier",
  "openai.response.service_tier",
  "anthropic.response.service_tier"
]

/** Words that frameworks have for the providers' own. */
const ofFrameworks: ReadonlyMap<string, StopReason> = new Map([
  ["tool-calls", "tool_calls"],
  ["tool_call", "tool_calls"],
  ["content-filter", "content_filter"],
  ["blocked", "content_filter"],
  ["completed", "end"]
])

const stopReasonOf = (word: string | null, isCalling: boolean): StopReason | null => {
  if (word === null) return null
  const reason = [ofFrameworks, ofAnthropic, ofGoogle]
    .map((words) => words.get(word))
    .find((found) => found !== undefined)
  const found = reason ?? ofOpenAi.get(word.toLowerCase()) ?? "other"
  return found === "end" && isCalling ? "tool_calls" : found
}

/** Genkit has the provider before the model's name. */
const genkitName = (inputs: unknown): ReadonlyArray<string | null> => {
  const [, provider = null, model = null] = /^([^/]+)\/(.+)$/.exec(text(get(inputs, "genkit:name")) ?? "") ?? []
  return [provider, model]
}

const providerOf = (inputs: unknown, models: { readonly model: string | null }, output: unknown): string | null => {
  const told =
    wordOf(inputs, providerNames) ??
    genkitName(inputs)[0] ??
    text(get(valueAt(inputs, "metadata"), "ls_provider")) ??
    wordOf(output, providerNames)
  const named = AiSdkFacts.nameOfProvider(told?.toLowerCase() ?? null)
  return named ?? providerOfModel(models, null) ?? null
}

/** LangChain has it beside the message. */
const langChainModel = (output: unknown): string | null =>
  text(
    get(valueAt(output, "output.value"), "generations", 0, 0, "message", "kwargs", "response_metadata", "model_name")
  )

/** Those that are known. */
const known = (values: Partial<Facts>): Partial<Facts> =>
  Object.fromEntries(Object.entries(values).filter(([, value]) => value !== null))

export const facts = (inputs: unknown, output: unknown): Facts => {
  if (isOfAiSdk(output)) return AiSdkFacts.facts(inputs, output)
  const body = bodyIn(output)
  const error = errorOf(rest({ error: get(output, "error") ?? null }))
  const calls = messagesIn(output).flatMap(({ parts }) => parts.filter(({ type }) => type === "tool_call"))
  const model = wordOf(inputs, modelNames) ?? genkitName(inputs)[1] ?? wordOf(output, modelNames)
  const word = reasonOf(output)
  const own: Facts = {
    provider: providerOf(inputs, { model }, output),
    model,
    response_model: wordOf(output, responseModelNames) ?? langChainModel(output),
    ...tokensIn(output),
    stop_reason: stopReasonOf(word, calls.length > 0),
    provider_stop_reason: word,
    tool_calls: isAnswer(output) ? calls.flatMap(({ name }) => text(name) ?? []) : null,
    error_type: error?.type ?? null,
    error_code: error?.code ?? null,
    error_status: error?.status ?? null
  }
  return body === null
    ? own
    : { ...own, ...known(body.facts({ model }, body.value)), ...known({ provider: own.provider, model }) }
}

export const billing: ReadBilling = (inputs, output) => {
  if (isOfAiSdk(output)) return AiSdkFacts.billing(inputs, output)
  const body = bodyIn(output)
  if (body !== null) return body.billing(inputs, body.value)
  // What emitters say of costs is what they reckon with prices of their own.
  const billed = billingOf({ providerMetadata: valueAt(output, "ai.response.providerMetadata") ?? null })
  return {
    ...billed,
    service_tier: wordOf(output, tierNames) ?? billed.service_tier,
    cache_write_1h_tokens: longCacheWrites(output) ?? billed.cache_write_1h_tokens,
    requests: null
  }
}
