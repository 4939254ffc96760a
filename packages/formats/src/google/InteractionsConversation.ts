/** The conversation of interactions. */
import { running } from "../facts/Kept.ts"
import type { Conversation, ConversationReader, Json, JsonObject, Message, Part } from "../Format.ts"
import { get, isEmpty, isObject, list, many, rest, text, texts } from "../json/Read.ts"
import { argumentsOf, beside, generic, media, messageFrom, messagesOfItems, part } from "../normal/Parts.ts"

export const typeOf = (item: Json | undefined): string => text(get(item, "type")) ?? ""

export const stepsOf = (output: unknown): Json | undefined => get(output, "steps") ?? get(output, "outputs")

/** The name of a call: its own, or what its type says, such as `google_search`. */
export const callNameOf = (item: Json): string => text(get(item, "name")) ?? typeOf(item).slice(0, -"_call".length)

export const wordOf = (output: unknown): string | null => {
  const status = text(get(output, "status"))
  return status === null || running.has(status) ? null : status
}

/** Contents that are bytes, or the address of them. */
const mediaTypes: ReadonlySet<string> = new Set(["image", "audio", "video", "document", "file"])

const known = {
  text: new Set(["type", "text"]),
  thought: new Set(["type", "summary"]),
  result: new Set(["type", "call_id", "name", "result"]),
  inputs: new Set(["input", "tools", "system_instruction"])
}

const mediaPart = (content: Json): Part => {
  const [data, url, mimeType] = ["data", "uri", "mime_type"].map((key) => text(get(content, key)) ?? undefined)
  if (data === undefined && url === undefined) return generic(content)
  const modality = typeOf(content) === "file" ? undefined : typeOf(content)
  // Of bytes and an address, the bytes are the content.
  const read = texts(content, data === undefined ? "uri" : "data", "mime_type")
  return media({ data, url, mimeType, modality }, rest(content, new Set(["type", ...read])))
}

/** Nesting of results up to which contents in contents are read. What is deeper is kept as it is. */
const maxDepth = 8

/** A thought is its summary, which may hold several texts. Its signature stands with the first. */
const thoughtParts = (thought: Json, depth: number): ReadonlyArray<Part> => {
  const about = rest(thought, known.thought)
  const said = many(get(thought, "summary")).map((content) =>
    typeOf(content) === "text" && typeof get(content, "text") === "string"
      ? part("reasoning", { content: get(content, "text") }, rest(content, known.text))
      : { ...contentPart(content, depth + 1), thought: true }
  )
  const [first = part("reasoning", {}), ...others] = said
  return said.length === 0 && Object.keys(about).length === 0 ? [] : [beside(first, about), ...others]
}

/** A tool that Google runs itself keeps its type beside the conventions'. */
const callPart = (item: Json, type: string): Part =>
  part(
    "tool_call",
    {
      id: get(item, "id"),
      name: callNameOf(item),
      arguments: argumentsOf(get(item, "arguments")),
      tool_type: type === "function_call" ? undefined : type
    },
    rest(item, new Set(["type", "id", "arguments", ...texts(item, "name")]))
  )

const resultPart = (item: Json, type: string, depth: number): Part => {
  const result = get(item, "result")
  const isContent = type === "function_result" && depth < maxDepth && list(result).some((each) => typeOf(each) !== "")
  return part(
    "tool_call_response",
    {
      id: get(item, "call_id"),
      name: get(item, "name"),
      response: isContent ? list(result).map((each) => contentPart(each, depth + 1)) : result,
      tool_type: type === "function_result" ? undefined : type
    },
    rest(item, known.result)
  )
}

const contentPart = (content: Json, depth: number): Part => {
  if (typeof content === "string") return part("text", { content })
  if (!isObject(content)) return generic(content)
  const type = typeOf(content)
  if (type === "text" && typeof content["text"] === "string") {
    return part("text", { content: content["text"] }, rest(content, known.text))
  }
  if (mediaTypes.has(type)) return mediaPart(content)
  if (type.endsWith("_call")) return callPart(content, type)
  if (type.endsWith("_result")) return resultPart(content, type, depth)
  return generic(rest(content))
}

const contentParts = (content: Json | undefined): ReadonlyArray<Part> =>
  many(content)
    .filter(
      (each) =>
        !isEmpty(each) &&
        !(typeOf(each) === "text" && Object.keys(rest(each, known.text)).length === 0 && get(each, "text") === "")
    )
    .flatMap((each) => (typeOf(each) === "thought" ? thoughtParts(each, 0) : [contentPart(each, 0)]))

const roles: ReadonlyMap<string, string> = new Map([
  ["model", "assistant"],
  ["user_input", "user"],
  ["model_output", "assistant"],
  ["thought", "assistant"],
  ["function_result", "tool"]
])

/** Steps, turns and contents: each is a message. `role` is that of a content that stands alone. */
const messageOf = (item: Json, role: string): Message => {
  const type = typeOf(item)
  const turn = text(get(item, "role"))
  if (isObject(item) && (turn !== null || type === "user_input" || type === "model_output")) {
    const of = turn ?? type
    const read = turn === null ? ["type"] : []
    return messageFrom(item, roles.get(of) ?? of, contentParts(item["content"]), "content", ...read)
  }
  const isStep = type.endsWith("_call") || type.endsWith("_result")
  return { role: roles.get(type) ?? (isStep ? "assistant" : role), parts: contentParts(item) }
}

const element = (item: unknown): ReadonlyArray<Message> => [messageOf(item as Json, "user")]

const knownOfOutput = new Set(["steps", "outputs", "usage"])

/** Each step of the output is a message, as it is when it is sent back. */
const outputOf = (output: unknown): ReadonlyArray<Message> =>
  messagesOfItems(
    many(stepsOf(output)).map((step) => messageOf(step, "assistant")),
    output,
    wordOf(output),
    rest(output, knownOfOutput)
  )

const toolOf = (tool: Json): JsonObject => (isObject(tool) ? tool : { type: "unknown", content: tool })

const messages = (inputs: unknown, output: unknown): Conversation => ({
  instructions: contentParts(get(inputs, "system_instruction")),
  tools: many(get(inputs, "tools")).map(toolOf),
  parameters: rest(inputs, known.inputs),
  input: many(get(inputs, "input")).flatMap(element),
  output: outputOf(output)
})

export const reader: ConversationReader = { messages, conversationPaths: [["input"]], element }
