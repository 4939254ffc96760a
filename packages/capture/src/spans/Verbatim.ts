/** Calls whose request stands on the span as the provider had it: those that OpenInference tells of OpenAI and Anthropic. */
import type { WireApi } from "@tachograph/formats/Format"
import { get, isObject, list, text } from "@tachograph/formats/json/Read"
import { fold } from "./Lists.ts"
import { jsonOf, JsonText, parsedContainer, type Writable } from "./JsonText.ts"
import type { Attributes, Value } from "./Span.ts"

/** A text that is JSON, and what it says. */
interface Body {
  readonly text: string
  readonly value: object
}

const bodyOf = (value: Value | undefined): Body | null => {
  const parsed = typeof value === "string" ? parsedContainer(value) : undefined
  return parsed === undefined ? null : { text: value as string, value: parsed }
}

const isAnthropic = (attributes: Attributes, body: object): boolean =>
  ["llm.system", "llm.provider"].some((key) => attributes.get(key) === "anthropic") || "system" in body

const apiOf = (attributes: Attributes, { value }: Body): WireApi | null => {
  if (typeof get(value, "model") !== "string") return null
  if (!Array.isArray(get(value, "messages"))) return get(value, "input") === undefined ? null : "provider1-responses"
  return isAnthropic(attributes, value) ? "provider2-messages" : "provider1-chat-completions"
}

/** Of which each answer has one, by the format. */
const answerKeys: Readonly<Partial<Record<WireApi, string>>> = {
  "provider1-chat-completions": "choices",
  "provider1-responses": "output",
  "provider2-messages": "content"
}

/** Fields that are known, in the order in which they are given. */
const fields = (values: Readonly<Record<string, Writable | undefined>>): ReadonlyMap<string, Writable> =>
  new Map(
    Object.entries(values).filter((entry): entry is [string, Writable] => entry[1] !== undefined && entry[1] !== null)
  )

/** Counts of tokens are small integers, whichever way they came. */
const countIn = (attributes: Attributes, name: string): number | undefined => {
  const value = attributes.get(`llm.token_count.${name}`)
  return typeof value === "number" || typeof value === "bigint" ? Number(value) : undefined
}

const tokensIn = (attributes: Attributes) => ({
  input: countIn(attributes, "prompt"),
  output: countIn(attributes, "completion"),
  read: countIn(attributes, "prompt_details.cache_read"),
  written: countIn(attributes, "prompt_details.cache_write"),
  reasoning: countIn(attributes, "completion_details.reasoning")
})

type Tokens = ReturnType<typeof tokensIn>

const unlessEmpty = (values: ReadonlyMap<string, Writable>): Writable | undefined =>
  values.size === 0 ? undefined : values

/** Of OpenAI, in whose counts the parts stand within the whole. */
const openAiUsage = (tokens: Tokens, input: string, output: string): Writable | undefined =>
  unlessEmpty(
    fields({
      [`${input}_tokens`]: tokens.input,
      [`${output}_tokens`]: tokens.output,
      [`${input}_tokens_details`]: unlessEmpty(fields({ cached_tokens: tokens.read })),
      [`${output}_tokens_details`]: unlessEmpty(fields({ reasoning_tokens: tokens.reasoning }))
    })
  )

/** Of Anthropic, whose input is without what stands in a cache. */
const anthropicUsage = ({ input, output, read, written }: Tokens): Writable | undefined =>
  unlessEmpty(
    fields({
      input_tokens: input === undefined ? undefined : Math.max(0, input - (read ?? 0) - (written ?? 0)),
      cache_creation_input_tokens: written,
      cache_read_input_tokens: read,
      output_tokens: output
    })
  )

/** What the answer said, in order: texts, thoughts and calls of tools. */
interface Said {
  readonly type: "text" | "reasoning" | "call"
  readonly text?: string | undefined
  readonly signature?: string | undefined
  readonly id?: string | undefined
  readonly name?: string | undefined
  readonly arguments?: string | undefined
}

const callOf = (block: unknown): Said => ({
  type: "call",
  id: text(get(block, "tool_call.id")) ?? undefined,
  name: text(get(block, "tool_call.function.name")) ?? undefined,
  arguments: text(get(block, "tool_call.function.arguments")) ?? undefined
})

const saidBy = (block: unknown): ReadonlyArray<Said> => {
  const type = text(get(block, "message_content.type"))
  if (type === "tool_use") return [callOf(block)]
  const said = text(get(block, "message_content.text"))
  if (said === null) return []
  const signature = text(get(block, "message_content.signature")) ?? undefined
  return [{ type: type === "reasoning" ? "reasoning" : "text", text: said, signature }]
}

const saidIn = (message: unknown): ReadonlyArray<Said> => {
  const blocks = list(get(message, "message.contents")).flatMap(saidBy)
  const whole = text(get(message, "message.content"))
  const calls = blocks.some(({ type }) => type === "call") ? [] : list(get(message, "message.tool_calls")).map(callOf)
  return [...(blocks.length > 0 || whole === null ? blocks : [{ type: "text" as const, text: whole }]), ...calls]
}

const textsOf = (said: ReadonlyArray<Said>): string | null => {
  const texts = said.filter(({ type }) => type === "text").map((each) => each.text ?? "")
  return texts.length === 0 ? null : texts.join("")
}

const functionOf = (call: Said): Writable => fields({ name: call.name, arguments: call.arguments ?? "{}" })

interface Answered {
  readonly messages: ReadonlyArray<ReadonlyArray<Said>>
  readonly model: string | undefined
  readonly reason: string | undefined
  readonly tokens: Tokens
}

const chatOf = ({ messages, model, reason, tokens }: Answered): Writable =>
  fields({
    model,
    choices: messages.map((said, index) => {
      const calls = said.filter(({ type }) => type === "call")
      const thought = said.find(({ type }) => type === "reasoning")
      const message = new Map<string, Writable>([
        ["role", "assistant"],
        ["content", textsOf(said)],
        ...fields({
          reasoning_content: thought?.text,
          tool_calls:
            calls.length === 0
              ? undefined
              : calls.map((call) => fields({ id: call.id, type: "function", function: functionOf(call) }))
        })
      ])
      return fields({ index, message, finish_reason: reason })
    }),
    usage: openAiUsage(tokens, "prompt", "completion")
  })

const itemOf = (said: Said): Writable => {
  if (said.type === "call") {
    return fields({ type: "function_call", call_id: said.id, name: said.name, arguments: said.arguments ?? "{}" })
  }
  if (said.type === "reasoning")
    return fields({ type: "reasoning", summary: [fields({ type: "summary_text", text: said.text })] })
  return fields({ type: "message", role: "assistant", content: [fields({ type: "output_text", text: said.text })] })
}

const responseOf = ({ messages, model, tokens }: Answered): Writable =>
  fields({ model, output: messages.flat().map(itemOf), usage: openAiUsage(tokens, "input", "output") })

const blockOf = (said: Said): Writable => {
  const { name, id } = said
  if (said.type === "call") {
    const input = parsedContainer(said.arguments ?? "{}") === undefined ? null : new JsonText(said.arguments ?? "{}")
    return fields({ type: "tool_use", id, name, input: input ?? said.arguments })
  }
  return said.type === "reasoning"
    ? fields({ type: "thinking", thinking: said.text, signature: said.signature })
    : fields({ type: "text", text: said.text })
}

const messageOf = ({ messages, model, reason, tokens }: Answered): Writable =>
  fields({
    type: "message",
    role: "assistant",
    model,
    content: messages.flat().map(blockOf),
    stop_reason: reason,
    usage: anthropicUsage(tokens)
  })

const rebuilders: Readonly<Partial<Record<WireApi, (answered: Answered) => Writable>>> = {
  "provider1-chat-completions": chatOf,
  "provider1-responses": responseOf,
  "provider2-messages": messageOf
}

/** The answer in the provider's shape, made of what the span says of it. Null where it says nothing. */
const rebuilt = (api: WireApi, attributes: Attributes): Writable => {
  const messages = list(fold(attributes).get("llm.output_messages")).map(saidIn)
  const whole = text(attributes.get("output.value"))
  const said = messages.length > 0 || whole === null ? messages : [[{ type: "text" as const, text: whole }]]
  return said.length === 0
    ? null
    : (rebuilders[api]?.({
        messages: said,
        model: text(attributes.get("llm.response.model_name")) ?? undefined,
        reason: text(attributes.get("llm.finish_reason")) ?? undefined,
        tokens: tokensIn(attributes)
      }) ?? null)
}

export interface VerbatimCall {
  readonly api: WireApi
  readonly inputs: string
  /** As the provider answered it, or else as it could be made of the span. */
  readonly output: string
  readonly isOutputVerbatim: boolean
}

/** The call of a span that has its request byte for byte; null of any other span. `error` is why it failed. */
export const verbatimCall = (attributes: Attributes, error: Writable | undefined): VerbatimCall | null => {
  const body = attributes.get("openinference.span.kind") === "LLM" ? bodyOf(attributes.get("input.value")) : null
  const api = body === null ? null : apiOf(attributes, body)
  if (body === null || api === null) return null
  const answer = error === undefined ? bodyOf(attributes.get("output.value")) : null
  if (answer !== null && isObject(answer.value) && answerKeys[api]! in answer.value) {
    return { api, inputs: body.text, output: answer.text, isOutputVerbatim: true }
  }
  const made = rebuilt(api, attributes)
  const failed = error === undefined ? made : new Map([...(made instanceof Map ? made : []), ["error", error]])
  // Where no answer is told, it is empty: an event has an object.
  return { api, inputs: body.text, output: jsonOf(failed ?? new Map()), isOutputVerbatim: false }
}
