/** Chat completions, of OpenAI and of the many that speak them. */
import * as AnthropicUsage from "../anthropic/Usage.ts"
import { nameIn } from "./ChatCompletionsCalls.ts"
import { accumulator } from "./ChatCompletionsStream.ts"
import { errorOf } from "../facts/Errors.ts"
import type {
  Conversation,
  ConversationReader,
  Facts,
  Format,
  Json,
  Message,
  Part,
  ReadBilling,
  StopReason,
  Uncounted
} from "../Format.ts"
import { count, get, isEmpty, isObject, list, many, rest, text, texts } from "../json/Read.ts"
import { except, partsOfContent, resultOf, toolOf } from "./Blocks.ts"
import { argumentsOf, beside, generic, media, messageFrom, messageWith, part } from "../normal/Parts.ts"
import { providerOf } from "../facts/Providers.ts"
import * as StatedCost from "../facts/StatedCost.ts"
import { type Found, usageIn } from "../usage/Places.ts"
import { searchesIn } from "../usage/Searches.ts"
import { billedOf, tokensOf } from "../usage/Usage.ts"

/** The words of many providers. Whatever is not here is `other`. */
const stopReasons: ReadonlyMap<string, StopReason> = new Map([
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

const callsOf = (message: Json | undefined): ReadonlyArray<Json> => {
  const legacy = get(message, "function_call")
  const isCall = isObject(legacy) ? !Object.values(legacy).every(isEmpty) : !isEmpty(legacy)
  return [...many(get(message, "tool_calls")), ...(isCall ? [{ function: legacy as Json }] : [])]
}

const stopReasonOf = (word: string | null, choice: Json | undefined): StopReason | null => {
  if (word === null) return null
  const reason = stopReasons.get(word.toLowerCase()) ?? "other"
  // No word of these providers says that the model refused, or that it was made to call the one tool of `tool_choice`.
  if (reason !== "end") return reason
  if (text(get(choice, "message", "refusal")) !== null) return "refusal"
  return callsOf(get(choice, "message")).length > 0 ? "tool_calls" : reason
}

const facts = (inputs: unknown, output: unknown): Facts => {
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
const uncountedIn = (output: unknown, { counts, usage }: Found): ReadonlyArray<Uncounted> => {
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

/** Of the output alone: what was asked for may not be what was served. */
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

const partOfCall = (call: Json): Part => {
  const key = isObject(get(call, "custom")) ? "custom" : "function"
  const made = get(call, key)
  if (!isObject(made)) return generic(call)
  const given = key === "custom" ? get(made, "input") : argumentsOf(get(made, "arguments"))
  const { type, ...others } = rest(call, except("id", "index", key))
  return part(
    "tool_call",
    {
      id: get(call, "id"),
      name: get(made, "name"),
      arguments: given,
      tool_type: type === "function" ? undefined : type
    },
    beside(rest(made, except("name", key === "custom" ? "input" : "arguments")), others)
  )
}

const partOfSound = (audio: Json | undefined): ReadonlyArray<Part> => {
  if (!isObject(audio)) return isEmpty(audio) ? [] : [part("audio", { content: audio })]
  if (Object.values(audio).every((value) => isEmpty(value) || value === 0)) return []
  const data = text(get(audio, "data")) ?? undefined
  const extras = rest(audio, except("data"))
  return [data === undefined ? part("audio", {}, extras) : media({ data, modality: "audio" }, extras)]
}

/** Keys under which reasoning stands beside the content. Some providers say the same under two of them. */
const reasoningKeys = ["reasoning_content", "reasoning", "reasoning_text", "thinking"]

const knownOfMessage = except("content", "refusal", "tool_calls", "function_call", "audio", ...reasoningKeys)

const partsOf = (message: Json): ReadonlyArray<Part> => {
  const reasoning = new Set(reasoningKeys.map((key) => get(message, key)).filter((value) => !isEmpty(value)))
  const refusal = get(message, "refusal")
  return [
    ...[...reasoning].map((content) => part("reasoning", { content })),
    ...partsOfContent(get(message, "content")),
    ...(isEmpty(refusal) ? [] : [part("refusal", { refusal })]),
    ...partOfSound(get(message, "audio")),
    ...callsOf(message).map(partOfCall)
  ]
}

const messageOf = (message: Json): Message => {
  if (!isObject(message)) return { role: "unknown", parts: isEmpty(message) ? [] : [generic(message)] }
  const role = text(get(message, "role")) ?? "unknown"
  const isResult = role === "tool" || role === "function"
  const id = text(get(message, "tool_call_id")) ?? undefined
  const response = isResult ? [part("tool_call_response", { id, response: resultOf(get(message, "content")) })] : []
  const parts = [...response, ...partsOf(isResult ? { ...message, content: null } : message)]
  return messageFrom(message, role, parts, ...knownOfMessage, ...(isResult ? texts(message, "tool_call_id") : []))
}

const knownOfOutput = except(
  ...["id", "object", "created", "model", "choices", "usage", "service_tier", "system_fingerprint", "provider"],
  ...["request_id", "x_groq", "usage_breakdown"]
)

const outputOf = (output: unknown): ReadonlyArray<Message> =>
  many(get(output, "choices")).map((choice, index) => {
    const key = isEmpty(get(choice, "message")) ? "text" : "message"
    const said = get(choice, key) ?? null
    const message = messageOf(isObject(choice) ? (key === "text" ? { content: said } : said) : choice)
    const place = typeof get(choice, "index") === "number" ? ["index"] : []
    // Perplexity has an empty delta beside each message.
    const others = rest(choice, except(key, "delta", ...place, ...texts(choice, "finish_reason")))
    return messageWith(
      { ...message, role: message.role === "unknown" ? "assistant" : message.role },
      text(get(choice, "finish_reason")),
      others,
      // What an answer holds beside its choices, such as citations, stands with the first.
      index === 0 ? rest(output, knownOfOutput) : {}
    )
  })

/** A text in place of messages is what the user says. */
const inputOf = (input: Json | undefined): ReadonlyArray<Message> =>
  typeof input === "string" && input !== ""
    ? [{ role: "user", parts: partsOfContent(input) }]
    : many(input).map(messageOf)

const knownOfInputs: ReadonlySet<string> = new Set(["messages", "tools", "functions"])

const messages = (inputs: unknown, output: unknown): Conversation => ({
  instructions: [],
  tools: [
    ...many(get(inputs, "tools")).map(toolOf),
    ...many(get(inputs, "functions")).map((tool) => toolOf({ type: "function", function: tool }))
  ],
  parameters: rest(inputs, knownOfInputs),
  input: inputOf(get(inputs, "messages")),
  output: outputOf(output)
})

/** The conversation alone: a bundle that reads no facts need not hold what reads them. */
export const reader: ConversationReader = {
  messages,
  conversationKeys: ["messages"],
  element: (element) => [messageOf(element as Json)]
}

export const ChatCompletions: Format = {
  facts,
  messages,
  conversationKeys: ["messages"],
  element: (element) => [messageOf(element as Json)],
  outputIsChoices: true,
  accumulator
}
