/** The conversation of responses. */
import { running } from "../facts/Kept.ts"
import type { Conversation, ConversationReader, Json, JsonObject, Message, Part } from "../Format.ts"
import { get, isEmpty, isObject, many, rest, text, texts } from "../json/Read.ts"
import { argumentsOf, beside, generic, messagesOfItems, messageWith, part } from "../normal/Parts.ts"
import { except, partsOfContent, resultOf, textsOf, toolOf } from "./Blocks.ts"

/** A message may be without its type, and a reference to another item, which has no role. */
export const typeOf = (item: Json): string =>
  text(get(item, "type")) ?? (get(item, "id") && !get(item, "role") ? "item_reference" : "")

export const wordOf = (output: unknown): string | null => {
  const status = text(get(output, "status"))
  if (status === null || running.has(status)) return null
  return status === "incomplete" ? (text(get(output, "incomplete_details", "reason")) ?? status) : status
}

const reasoningOf = (item: Json): Part => {
  const [content, summary] = ["content", "summary"].map((key) => textsOf(get(item, key), "\n\n"))
  // What cannot be told as one text is kept as it is.
  const read = [...(content?.isAll ? ["content"] : []), ...(summary?.isAll ? ["summary"] : [])]
  const both = content && summary ? { summary: summary.said } : {}
  return part(
    "reasoning",
    { content: (content ?? summary)?.said, item_id: get(item, "id"), ...both },
    rest(item, except("type", "id", ...read))
  )
}

const callOf = (item: Json): Part => {
  const isCustom = typeOf(item) === "custom_tool_call"
  return part(
    "tool_call",
    {
      id: get(item, "call_id") ?? get(item, "id"),
      name: get(item, "name"),
      arguments: isCustom ? get(item, "input") : argumentsOf(get(item, "arguments")),
      tool_type: isCustom ? "custom" : undefined,
      item_id: get(item, "id")
    },
    rest(item, except("type", "id", "call_id", "name", isCustom ? "input" : "arguments"))
  )
}

const responseOf = (item: Json): Part =>
  part(
    "tool_call_response",
    {
      id: get(item, "call_id"),
      response: resultOf(get(item, "output")),
      tool_type: get(item, "type"),
      item_id: get(item, "id")
    },
    rest(item, except("type", "id", "call_id", "output"))
  )

/** What stands beside the content of a message item. */
const aboutOf = (item: Json, ...read: ReadonlyArray<string>): JsonObject => {
  const names = texts(item, "role").length > 0 ? texts(item, "name") : []
  return rest(item, except("content", ...read, ...texts(item, "type", "role"), ...names))
}

/** The parts of a message item. What stands beside its content stands with the first of them; without a type it may be no message. */
const saidOf = (item: Json): ReadonlyArray<Part> => {
  const id = get(item, "id")
  const about = aboutOf(item, "id")
  const said = partsOfContent(get(item, "content"))
  if (isEmpty(said) && !typeOf(item) && !isEmpty(about)) return [generic(about)]
  return said.map((part, index) =>
    beside(beside(part, isEmpty(id) ? {} : { item_id: id as Json }), index === 0 ? about : {})
  )
}

const partsOf = (item: Json): ReadonlyArray<Part> => {
  switch (typeOf(item)) {
    case "":
    case "message":
      return isObject(item) ? saidOf(item) : partsOfContent(item)
    case "reasoning":
      return [reasoningOf(item)]
    case "function_call":
    case "custom_tool_call":
      return [callOf(item)]
    case "function_call_output":
    case "custom_tool_call_output":
      return [responseOf(item)]
    default:
      return [generic({ type: typeOf(item), ...rest(item, except()) })]
  }
}

/** Whose an item is. Outputs of tools are the client's, but for those that only the provider makes. */
const roleOf = (item: Json): string => {
  const type = typeOf(item)
  if (["", "message", "mcp_approval_response"].includes(type)) return "user"
  if (type === "tool_search_output") return get(item, "execution") === "client" ? "tool" : "assistant"
  return type.endsWith("_output") ? "tool" : "assistant"
}

/** The message that an item is. */
const messageOf = (item: Json): Message => {
  const role = text(get(item, "role"))
  const name = role === null ? null : text(get(item, "name"))
  const parts = partsOf(item)
  // Without content, what stands beside it stands with the message.
  return messageWith({ role: role ?? roleOf(item), parts, name }, null, parts.length > 0 ? {} : aboutOf(item))
}

const inputOf = (input: Json | undefined): ReadonlyArray<Message> =>
  typeof input === "string" ? [{ role: "user", parts: partsOfContent(input) }] : many(input).map(messageOf)

/** Each item of the output is a message, as it is when it is sent back. All else but the error repeats the request, or is a fact. */
const outputOf = (output: unknown): ReadonlyArray<Message> =>
  messagesOfItems(
    many(get(output, "output")).map(messageOf),
    output,
    wordOf(output),
    rest({ error: get(output, "error") ?? null })
  )

const knownOfInputs: ReadonlySet<string> = new Set(["input", "tools", "instructions"])

const instructionsOf = (instructions: Json | undefined): ReadonlyArray<Part> =>
  Array.isArray(instructions) ? instructions.flatMap(partsOf) : partsOfContent(instructions)

const messages = (inputs: unknown, output: unknown): Conversation => ({
  instructions: instructionsOf(get(inputs, "instructions")),
  tools: many(get(inputs, "tools")).map((tool): JsonObject => toolOf(tool)),
  parameters: rest(inputs, knownOfInputs),
  input: inputOf(get(inputs, "input")),
  output: outputOf(output)
})

export const reader: ConversationReader = {
  messages,
  conversationPaths: [["input"]],
  element: (element) => [messageOf(element as Json)]
}
