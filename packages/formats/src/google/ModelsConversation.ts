/** The conversation of `generateContent`. */
import type { Conversation, ConversationReader, Json, JsonObject, Message, Part } from "../Format.ts"
import { get, isEmpty, isObject, many, rest, says, text, texts } from "../json/Read.ts"
import { beside, generic, media, messageFrom, messageWith, part } from "../normal/Parts.ts"

const snake = (key: string): string => key.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)

/** A field by its name in JSON, or by its name in protocol buffers, which requests may use as well. */
export const field = (value: unknown, key: string): Json | undefined => get(value, key) ?? get(value, snake(key))

const both = (...keys: ReadonlyArray<string>): ReadonlySet<string> => new Set(keys.flatMap((key) => [key, snake(key)]))

/** What is read of each kind of part, besides the signature, which is read of all of them. */
const known = {
  signature: both("thoughtSignature"),
  text: both("text"),
  thought: both("text", "thought"),
  inlineData: both("inlineData"),
  fileData: both("fileData"),
  functionCall: both("functionCall"),
  call: both("id", "name", "args"),
  functionResponse: both("functionResponse"),
  response: both("id", "name", "response"),
  toolCall: both("toolCall"),
  toolCallFields: both("id", "toolType", "args"),
  toolResponse: both("toolResponse"),
  toolResponseFields: both("id", "toolType", "response"),
  output: both("candidates", "usageMetadata"),
  parameters: both("parameters", "parametersJsonSchema"),
  declarations: both("functionDeclarations"),
  inputs: both("contents", "tools", "systemInstruction")
}

/** Those fields that hold a text. */
const textual = (value: unknown, ...keys: ReadonlyArray<string>) => new Set(texts(value, ...both(...keys)))

/** The signature of a thought stands under one name, whatever the request called it. */
const extrasOf = (item: Json, read: ReadonlySet<string>): JsonObject => ({
  ...rest(rest(item, read), known.signature),
  ...(isEmpty(field(item, "thoughtSignature")) ? {} : { thoughtSignature: field(item, "thoughtSignature") as Json })
})

/**
 * Ids that Google gives have eight characters. Any other was made up by the client for a call that came without one, so that
 * the call has it only when it is sent back: it is no part of the message's identity.
 */
const idOf = (call: Json): Readonly<Record<string, Json | undefined>> => {
  const id = get(call, "id")
  return typeof id === "string" && !/^[a-z\d]{8}$/.test(id) ? { client_call_id: id } : { id }
}

const mediaOf = (item: Json): Part | null => {
  const inline = field(item, "inlineData")
  const data = text(get(inline, "data"))
  if (data !== null) {
    const mimeType = text(field(inline, "mimeType")) ?? undefined
    return media(
      { data, mimeType },
      beside(rest(inline, textual(inline, "data", "mimeType")), extrasOf(item, known.inlineData))
    )
  }
  const file = field(item, "fileData")
  const url = text(field(file, "fileUri"))
  if (url === null) return null
  const mimeType = text(field(file, "mimeType")) ?? undefined
  return media(
    { url, mimeType },
    beside(rest(file, textual(file, "fileUri", "mimeType")), extrasOf(item, known.fileData))
  )
}

/** Nesting of responses up to which parts in parts are read. What is deeper is kept as it is. */
const maxDepth = 8

const responseOf = (item: Json, response: JsonObject, depth: number): Part => {
  const parts = get(response, "parts")
  const read = Array.isArray(parts) && depth < maxDepth ? { parts: partsOf(parts, depth + 1) } : {}
  return part(
    "tool_call_response",
    { ...idOf(response), name: get(response, "name"), response: get(response, "response") },
    beside({ ...rest(response, known.response), ...read }, extrasOf(item, known.functionResponse))
  )
}

/** A tool that Google runs itself keeps the name of Google's field beside the conventions' type. */
const toolPart = (item: Json, key: "toolCall" | "toolResponse", tool: JsonObject): Part => {
  const isCall = key === "toolCall"
  const content = isCall ? { arguments: get(tool, "args") } : { response: get(tool, "response") }
  return part(
    isCall ? "tool_call" : "tool_call_response",
    { ...idOf(tool), name: field(tool, "toolType"), ...content, tool_type: key },
    beside(rest(tool, isCall ? known.toolCallFields : known.toolResponseFields), extrasOf(item, known[key]))
  )
}

const textPart = (item: Json, content: string): Part | null => {
  const isThought = get(item, "thought") === true
  const extras = extrasOf(item, isThought ? known.thought : known.text)
  if (content === "" && Object.keys(extras).length === 0) return null
  return part(isThought ? "reasoning" : "text", { content }, extras)
}

const partOf = (item: Json, depth: number): Part | null => {
  if (typeof item === "string") return item === "" ? null : part("text", { content: item })
  if (!isObject(item)) return isEmpty(item) ? null : generic(item)
  const said = get(item, "text")
  if (typeof said === "string") return textPart(item, said)
  const call = field(item, "functionCall")
  if (isObject(call)) {
    return part(
      "tool_call",
      { ...idOf(call), name: get(call, "name"), arguments: get(call, "args") },
      beside(rest(call, known.call), extrasOf(item, known.functionCall))
    )
  }
  const response = field(item, "functionResponse")
  if (isObject(response)) return responseOf(item, response, depth)
  for (const key of ["toolCall", "toolResponse"] as const) {
    const tool = field(item, key)
    if (isObject(tool)) return toolPart(item, key, tool)
  }
  const found = mediaOf(item)
  if (found !== null) return found
  // What is none of the conventions', such as `executableCode`, is named by the field that holds it.
  const extras = extrasOf(item, known.signature)
  const [type = "unknown"] = Object.keys(extras).filter((key) => isObject(extras[key]))
  return Object.keys(extras).length === 0
    ? null
    : part(text(extras["type"]) ?? type, {}, rest(extras, textual(extras, "type")))
}

const partsOf = (parts: unknown, depth = 0): ReadonlyArray<Part> =>
  many(parts)
    .map((item) => partOf(item, depth))
    .filter((item) => item !== null)

const roles: ReadonlyMap<string, string> = new Map([
  ["model", "assistant"],
  ["function", "tool"]
])

const messageOf = (content: Json | undefined, role: string): Message => {
  // A part without a content around it, or a text, is what the user says.
  if (!isObject(content) || !(says(content, "parts") || says(content, "role"))) return { role, parts: partsOf(content) }
  const said = text(get(content, "role")) ?? role
  return messageFrom(content, roles.get(said) ?? said, partsOf(get(content, "parts")), "parts")
}

const element = (content: unknown): ReadonlyArray<Message> => [messageOf(content as Json, "user")]

const outputOf = (output: unknown): ReadonlyArray<Message> => {
  // What an answer holds beside its candidates, such as the feedback on the prompt, stands with the first.
  const about = rest(output, known.output)
  const blocked = field(get(about, "promptFeedback") ?? get(about, "prompt_feedback"), "blockReason")
  const candidates = many(get(output, "candidates"))
  if (candidates.length === 0 && text(blocked) !== null) {
    return [{ ...about, role: "assistant", parts: [], finish_reason: blocked as string }]
  }
  return candidates.map((candidate, index) => {
    const content = isObject(candidate) ? (get(candidate, "content") ?? { parts: [] }) : candidate
    const message = messageOf(content, "model")
    const place = typeof get(candidate, "index") === "number" ? ["index"] : []
    const beyond = rest(candidate, new Set(["content", ...place, ...textual(candidate, "finishReason")]))
    return messageWith(
      { ...message, role: roles.get(message.role) ?? message.role },
      text(field(candidate, "finishReason")),
      beyond,
      index === 0 ? about : {}
    )
  })
}

/** One object declares many functions, and may switch on tools of Google's beside them. */
const toolsOf = (tool: Json): ReadonlyArray<JsonObject> => {
  const declared = many(field(tool, "functionDeclarations")).map((declaration) => {
    if (!isObject(declaration)) return { type: "unknown", content: declaration }
    const parameters = get(declaration, "parameters") ?? field(declaration, "parametersJsonSchema")
    const others = Object.entries(declaration).filter(([key]) => !known.parameters.has(key))
    return { type: "function", ...Object.fromEntries(others), ...(parameters === undefined ? {} : { parameters }) }
  })
  if (!isObject(tool)) return [{ type: "unknown", content: tool }]
  const others = Object.entries(tool).filter(([key]) => !known.declarations.has(key))
  return others.length === 0 ? declared : [...declared, Object.fromEntries(others)]
}

/** What stands beside the parts of instructions stands with the first. */
const instructionsOf = (instruction: Json | undefined): ReadonlyArray<Part> => {
  const { role, parts, ...others } = messageOf(instruction, "system")
  // Google reads no role here; these two are what clients write.
  const about = role === "system" || role === "user" ? others : { ...others, role }
  if (isEmpty(about)) return parts
  const [first = part("unknown", {}), ...more] = parts
  return [beside(first, about as JsonObject), ...more]
}

const messages = (inputs: unknown, output: unknown): Conversation => ({
  instructions: instructionsOf(field(inputs, "systemInstruction")),
  tools: many(get(inputs, "tools")).flatMap(toolsOf),
  parameters: rest(inputs, known.inputs),
  input: many(get(inputs, "contents")).flatMap(element),
  output: outputOf(output)
})

export const reader: ConversationReader = { messages, conversationPaths: [["contents"]], element }
