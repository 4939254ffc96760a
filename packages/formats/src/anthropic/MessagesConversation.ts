/** The conversation of messages. */
import type { Conversation, ConversationReader, Json, JsonObject, Message, Part } from "../Format.ts"
import { get, isEmpty, isObject, many, rest, text, texts } from "../json/Read.ts"
import { beside, generic, media, messageFrom, messageWith, part } from "../normal/Parts.ts"

/** Types of blocks that call a tool: the application's, the provider's own, and one of an MCP server. */
export const calls: ReadonlySet<Json | undefined> = new Set(["tool_use", "server_tool_use", "mcp_tool_use"])

/** Marks of transport: they say where a cache ends, not what was said. */
const marks = ["cache_control"]

const restOf = (block: JsonObject, ...read: ReadonlyArray<string>): JsonObject =>
  rest(block, new Set([...marks, ...read]))

/** Nesting of results up to which blocks in blocks are read. What is deeper is kept as it is. */
const maxDepth = 8

/** The key of a source's content, by the source's type. A document that is text or blocks stays what it is. */
const sources: ReadonlyMap<Json | undefined, string> = new Map([
  ["base64", "data"],
  ["url", "url"],
  ["file", "file_id"]
])

const mediaPart = (block: JsonObject, type: string): Part | null => {
  const source = get(block, "source")
  const key = sources.get(get(source, "type"))
  const place = key === undefined ? null : text(get(source, key))
  if (key === undefined || place === null) return null
  return media(
    {
      [key === "file_id" ? "fileId" : key]: place,
      mimeType: text(get(source, "media_type")) ?? undefined,
      modality: type
    },
    beside(rest(source, new Set(["type", key, ...texts(source, "media_type")])), restOf(block, "type", "source"))
  )
}

/** A caller `direct` is the model itself, which is what a call without a caller says. */
const callerOf = (block: JsonObject): JsonObject => {
  const caller = get(block, "caller")
  const isDirect = get(caller, "type") === "direct" && isEmpty(rest(caller, new Set(["type"])))
  return isDirect ? {} : rest({ caller: caller ?? null })
}

const callPart = (block: JsonObject, type: string): Part => {
  const { id, name, input } = block
  const extras = { ...restOf(block, "type", "id", "name", "input", "caller"), ...callerOf(block) }
  return part("tool_call", { id, name, arguments: input, tool_type: type === "tool_use" ? undefined : type }, extras)
}

/** A result that is one text is that text, whichever way it was written. */
const responseOf = (content: Json | undefined, depth: number): Json | undefined => {
  if (!Array.isArray(content)) return content
  const parts = partsOf(content, depth + 1)
  const [only] = parts
  const said = parts.length === 1 && only?.type === "text" && Object.keys(only).length === 2 ? only["content"] : parts
  return said ?? parts
}

const responsePart = (block: JsonObject, type: string, depth: number): Part => {
  const { tool_use_id: id, content, is_error: isError } = block
  const failed =
    isError === true ? { is_error: true } : restOf({ is_error: isError === false ? null : (isError ?? null) })
  const extras = {
    ...restOf(block, "type", "tool_use_id", "content", "is_error", "caller"),
    ...failed,
    ...callerOf(block)
  }
  const response = type === "tool_result" || type === "mcp_tool_result" ? responseOf(content, depth) : content
  return part("tool_call_response", { id, response, tool_type: type === "tool_result" ? undefined : type }, extras)
}

/** A text that is empty says nothing, unless something stands beside it, such as a signature. */
const saidPart = (type: "text" | "reasoning", content: string, extras: JsonObject): ReadonlyArray<Part> =>
  content === "" && Object.keys(extras).length === 0 ? [] : [part(type, { content }, extras)]

const knownParts = (block: JsonObject, type: string, depth: number): ReadonlyArray<Part> | null => {
  const { text: said, thinking, file_id: fileId } = block
  if (type === "text" && typeof said === "string") return saidPart("text", said, restOf(block, "type", "text"))
  if (type === "thinking" && typeof thinking === "string") {
    return saidPart("reasoning", thinking, restOf(block, "type", "thinking"))
  }
  if (calls.has(type)) return [callPart(block, type)]
  if (type === "tool_result" || type.endsWith("_tool_result")) return [responsePart(block, type, depth)]
  if (type === "container_upload" && typeof fileId === "string") {
    return [media({ fileId }, restOf(block, "type", "file_id"))]
  }
  const part = type === "image" || type === "document" ? mediaPart(block, type) : null
  return part === null ? null : [part]
}

const partsOfBlock = (block: Json, depth: number): ReadonlyArray<Part> => {
  if (typeof block === "string") return saidPart("text", block, {})
  if (!isObject(block) || depth > maxDepth) return [generic(block)]
  const type = block["type"]
  return (typeof type === "string" ? knownParts(block, type, depth) : null) ?? [generic(restOf(block))]
}

const partsOf = (content: Json | undefined, depth = 0): ReadonlyArray<Part> =>
  many(content).flatMap((block) => partsOfBlock(block, depth))

const messageOf = (message: Json): Message => {
  if (!isObject(message)) return { role: "user", parts: partsOf(message) }
  return messageFrom(message, text(message["role"]) ?? "user", partsOf(message["content"]), ...marks, "content")
}

const outputOf = (output: unknown): ReadonlyArray<Message> => {
  const content = get(output, "content")
  if (!isObject(output) || content === undefined) return []
  return [
    messageWith(
      { role: text(output["role"]) ?? "assistant", parts: partsOf(content) },
      text(output["stop_reason"]),
      restOf(output, "content", ...texts(output, "type", "role", "stop_reason"))
    )
  ]
}

const toolOf = (tool: Json): JsonObject => {
  if (!isObject(tool)) return { definition: tool }
  const { name, description, input_schema: parameters } = tool
  return beside(
    rest({ name, description, parameters } as JsonObject),
    restOf(tool, "name", "description", "input_schema")
  )
}

const messages = (inputs: unknown, output: unknown): Conversation => {
  const fields = isObject(inputs) ? inputs : {}
  const { messages: input, system, tools, ...parameters } = fields
  return {
    instructions: partsOf(system),
    tools: many(tools).map(toolOf),
    parameters: restOf(parameters),
    input: many(input).map(messageOf),
    output: outputOf(output)
  }
}

export const reader: ConversationReader = {
  messages,
  conversationPaths: [["messages"]],
  element: (element) => [messageOf(element as Json)]
}
