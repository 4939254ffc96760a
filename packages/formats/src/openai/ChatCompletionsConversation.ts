/** The conversation of chat completions. */
import type { Conversation, ConversationReader, Json, Message, Part } from "../Format.ts"
import { get, isEmpty, isObject, many, rest, text, texts } from "../json/Read.ts"
import { argumentsOf, beside, generic, media, messageFrom, messageWith, part } from "../normal/Parts.ts"
import { except, partsOfContent, resultOf, toolOf } from "./Blocks.ts"

export const callsOf = (message: Json | undefined): ReadonlyArray<Json> => {
  const legacy = get(message, "function_call")
  const isCall = isObject(legacy) ? !Object.values(legacy).every(isEmpty) : !isEmpty(legacy)
  return [...many(get(message, "tool_calls")), ...(isCall ? [{ function: legacy as Json }] : [])]
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
    const told = key === "text" ? { content: said } : said
    const message = messageOf(isObject(choice) ? told : choice)
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

export const reader: ConversationReader = {
  messages,
  conversationPaths: [["messages"]],
  element: (element) => [messageOf(element as Json)]
}
