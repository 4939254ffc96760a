/** The messages that a span says were answered. */
import { outputOf } from "../aisdk/Conversation.ts"
import * as Span from "../aisdk/Span.ts"
import type { Json, JsonObject, Message } from "../Format.ts"
import { get, isEmpty, isObject, list, many, rest, says, text } from "../json/Read.ts"
import { argumentsOf, generic } from "../normal/Parts.ts"
import { scopeKey, valueAt, wordOf } from "./Attributes.ts"
import { bodyIn } from "./Bodies.ts"
import { element } from "./Elements.ts"
import { joined } from "./Genkit.ts"

/** The answer of the AI SDK, whose attributes are its own. */
const aiSdk = /^ai\.response\.(?:text|reasoning|object|toolCalls|finishReason)$/

export const isOfAiSdk = (output: unknown): output is JsonObject =>
  isObject(output) && Object.keys(output).some((key) => aiSdk.test(key))

/** A message of the answer, which need not say its role. */
const answered = (value: Json): ReadonlyArray<Message> => {
  if (!isObject(value))
    return isEmpty(value) ? [] : element(value).map((message) => ({ ...message, role: "assistant" }))
  const isTyped = ["role", "kwargs", "message", "message.role", "type", "gen_ai.event.content"].some((key) =>
    says(value, key)
  )
  const isSaid = isTyped || ["content", "parts", "tool_calls"].some((key) => Object.hasOwn(value, key))
  if (!isSaid) return [{ role: "assistant", parts: [generic({ type: "object", object: value })] }]
  const { finish_reason: reason, ...message } = value
  const read = element({ ...(isTyped ? {} : { role: "assistant" }), ...message })
  return read.map((each) => ({ ...each, ...rest({ finish_reason: reason ?? null }) }))
}

/** Chunks of a stream of Gemini's, of which each is a message in the same role. */
const unchunked = (messages: ReadonlyArray<Message>, values: ReadonlyArray<Json>): ReadonlyArray<Message> => {
  const areChunks =
    values.length > 1 && values.every((value) => list(get(value, "parts")).some((part) => !says(part, "type")))
  const [first] = messages
  return areChunks && first !== undefined
    ? [joined({ ...first, parts: messages.flatMap(({ parts }) => parts) })]
    : messages
}

/** Texts are a list of them, or the text of a stream. */
const textOf = (said: Json | undefined): Json | null => {
  const read = typeof said === "string" && said.startsWith("[") ? argumentsOf(said) : said
  return Array.isArray(read) && read.every((item) => typeof item === "string") ? read.join("") : (said ?? null)
}

/** Where emitters have it, each read on its own. The first that has something is the answer. */
const sources: ReadonlyArray<(output: JsonObject) => ReadonlyArray<Message>> = [
  (output) => bodyIn(output)?.messages ?? [],
  // Mastra has what it calls beside the text.
  (output) => {
    const step = valueAt(output, "mastra.model_step.output")
    return isObject(step) ? outputOf(step) : []
  },
  (output) => {
    const values = many(valueAt(output, "gen_ai.output.messages"))
    return unchunked(values.flatMap(answered), values)
  },
  (output) => {
    const [said, calls] = [textOf(get(output, "gen_ai.response.text")), valueAt(output, "gen_ai.response.tool_calls")]
    return isEmpty(said) && isEmpty(calls) ? [] : answered({ content: said, tool_calls: list(calls) })
  },
  (output) => many(valueAt(output, "gen_ai.completion")).flatMap(answered),
  (output) => many(valueAt(output, "langfuse.observation.output")).flatMap(answered),
  (output) => {
    const said = valueAt(output, "genkit:output")
    const messages = [get(said, "message"), ...list(get(said, "candidates")).map((each) => get(each, "message"))]
    return messages.flatMap((message) => answered(message ?? null))
  },
  // LangChain's copies in other attributes are without the ids of calls.
  (output) =>
    list(get(valueAt(output, "output.value"), "generations"))
      .flatMap(many)
      .flatMap((generation) => answered(get(generation, "message") ?? get(generation, "text") ?? null)),
  (output) => list(valueAt(output, "llm.output_messages")).flatMap(answered),
  (output) => many(valueAt(output, "output.value")).flatMap(answered)
]

const reasonsOf = (said: Json | undefined): string | null => {
  const read = argumentsOf(said)
  return text(Array.isArray(read) ? read[0] : read)
}

/** The word for why the model stopped. */
export const reasonOf = (output: unknown): string | null => {
  const messages = [valueAt(output, "gen_ai.output.messages"), valueAt(output, "gen_ai.completion")].flatMap(many)
  const genkit = valueAt(output, "genkit:output")
  const generation = get(valueAt(output, "output.value"), "generations", 0, 0)
  return (
    reasonsOf(get(output, "gen_ai.response.finish_reasons")) ??
    wordOf(output, [
      "gen_ai.response.finish_reason",
      "llm.finish_reason",
      "ai.response.finishReason",
      "anthropic.message.stop_reason",
      "stop_reason"
    ]) ??
    text(get(genkit, "finishReason") ?? get(genkit, "candidates", 0, "finishReason")) ??
    text(get(generation, "generationInfo", "finish_reason")) ??
    messages.map((message) => text(get(message, "finish_reason"))).find((word) => word !== null) ??
    reasonsOf(get(output, "finish_reasons"))
  )
}

/** The answer, with its reason to stop and its id. */
export const messagesIn = (output: unknown): ReadonlyArray<Message> => {
  if (!isObject(output)) return []
  if (isOfAiSdk(output)) return outputOf(Span.outputOf(output))
  const found = sources.reduce<ReadonlyArray<Message>>(
    (before, read) => (before.length > 0 ? before : read(output)),
    []
  )
  const last = found.findLastIndex(({ role }) => role === "assistant")
  const about = rest({
    finish_reason: reasonOf(output),
    id: wordOf(output, ["gen_ai.response.id"]),
    error: get(output, "error") ?? null
  })
  return found.map((message, at) => (at === last ? { ...about, ...message } : message))
}

/** Whether a value says anything of an answer. */
export const isAnswer = (output: unknown): boolean =>
  isObject(output) && Object.keys(output).some((key) => key !== scopeKey && key !== "error")
