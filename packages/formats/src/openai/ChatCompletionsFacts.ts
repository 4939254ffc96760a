/** What a chat completion was, and on what its price depends. */
import * as AnthropicUsage from "../anthropic/Usage.ts"
import { errorOf } from "../facts/Errors.ts"
import { providerOf } from "../facts/Providers.ts"
import * as StatedCost from "../facts/StatedCost.ts"
import type { Facts, Json, ReadBilling, StopReason, Uncounted } from "../Format.ts"
import { count, get, isEmpty, list, text } from "../json/Read.ts"
import { type AnswerUsage, usageIn } from "../usage/AnswerUsage.ts"
import { searchesIn } from "../usage/Searches.ts"
import { billedOf, tokensOf } from "../usage/Usage.ts"
import { nameIn } from "./ChatCompletionsCalls.ts"
import { callsOf } from "./ChatCompletionsConversation.ts"

/** The words of many providers. Whatever is not here is `other`. */
export const stopReasons: ReadonlyMap<string, StopReason> = new Map([
  ["stop", "end"],
  ["eos", "end"],
  ["eos_token", "end"],
  ["end_turn", "end"],
  ["stop_sequence", "end"],
  ["length", "length"],
  ["max_tokens", "length"],
  ["max_output_tokens", "length"],
  ["model_length", "length"],
  ["model_context_window_exceeded", "length"],
  ["tool_calls", "tool_calls"],
  ["tool_use", "tool_calls"],
  ["function_call", "tool_calls"],
  ["refusal", "refusal"],
  ["content_filter", "content_filter"],
  ["sensitive", "content_filter"],
  ["safety", "content_filter"],
  ["recitation", "content_filter"],
  ["pause_turn", "pause"],
  ["error", "error"],
  ["network_error", "error"],
  ["insufficient_system_resource", "error"]
])

const stopReasonOf = (word: string | null, choice: Json | undefined): StopReason | null => {
  if (word === null) return null
  const reason = stopReasons.get(word.toLowerCase()) ?? "other"
  // No word of these providers says that the model refused, or that it was made to call the one tool of `tool_choice`.
  if (reason !== "end") return reason
  if (text(get(choice, "message", "refusal")) !== null) return "refusal"
  return callsOf(get(choice, "message")).length > 0 ? "tool_calls" : reason
}

export const facts = (inputs: unknown, output: unknown): Facts => {
  const choices = get(output, "choices")
  const word = text(get(choices, 0, "finish_reason"))
  const error = errorOf(output) ?? errorOf(list(choices))
  const calls = list(choices).flatMap((choice) => callsOf(get(choice, "message")))
  return {
    provider: providerOf(inputs, output),
    model: text(get(inputs, "model")),
    response_model: text(get(output, "model")),
    ...tokensOf(usageIn(output).counts, "prompt"),
    stop_reason: stopReasonOf(word, get(choices, 0)),
    provider_stop_reason: word,
    tool_calls: Array.isArray(choices) ? calls.map(nameIn).filter((name) => name !== null) : null,
    error_type: error?.type ?? null,
    error_code: error?.code ?? null,
    error_status: error?.status ?? null
  }
}

const isCitation = (note: Json): boolean => get(note, "type") === "url_citation"

/** Tools that Groq has run, by their types: what was looked for or read in the web, and code. */
const paidTools: ReadonlyArray<readonly [type: RegExp, part: Uncounted]> = [
  [/search|browser|visit/, "web_search"],
  [/python|code/, "code_interpreter"]
]

/** What is paid for and not counted: what the messages of an answer show, or its usage says by other counts than those of `billing`. */
const uncountedIn = (output: unknown, { counts, usage }: AnswerUsage): ReadonlyArray<Uncounted> => {
  const said = list(get(output, "choices")).map((choice) => get(choice, "message"))
  const tools = said
    .flatMap((message) => list(get(message, "executed_tools")))
    .map((tool) => text(get(tool, "type")) ?? "")
  const hasSearched =
    (searchesIn(usage) === null && said.some((message) => list(get(message, "annotations")).some(isCitation))) ||
    // Of xAI's live search, each source is paid for.
    (count(get(usage, "num_sources_used")) ?? 0) > 0
  return Array.from(
    new Set<Uncounted>([
      ...(hasSearched ? (["web_search"] as const) : []),
      ...paidTools.filter(([type]) => tools.some((tool) => type.test(tool))).map(([, part]) => part),
      ...(!counts.outputAudio && said.some((message) => !isEmpty(get(message, "audio", "data")))
        ? (["audio"] as const)
        : []),
      ...(!counts.outputImage && said.some((message) => list(get(message, "images")).length > 0)
        ? (["images"] as const)
        : [])
    ])
  )
}

export const billing: ReadBilling = (_, output) => {
  const found = usageIn(output)
  const { usage, counts } = found
  return {
    service_tier: text(get(output, "service_tier")) ?? text(get(usage, "service_tier")),
    ...billedOf(counts),
    web_searches: searchesIn(usage),
    file_searches: null,
    uncounted: uncountedIn(output, found),
    requests: AnthropicUsage.requestsOf(found, () => tokensOf(counts, "prompt")),
    stated_cost: StatedCost.of(output, usage)
  }
}
