/** The messages and contents of the AI SDK in normal form. */
import type { Json, JsonObject, Message, Part } from "../Format.ts"
import { first, get, isEmpty, isObject, list, rest, text, texts } from "../json/Read.ts"
import { argumentsOf, generic, media, type Media, messageWith, part } from "../normal/Parts.ts"

/** Marks for caches. They are no part of what was said. */
const transport: ReadonlySet<string> = new Set(["cacheControl", "cache_control", "cachePoint"])

/** What a provider wants to have back: it is called options in what is sent, and metadata in what is answered. */
const optionsOf = (block: JsonObject): JsonObject => {
  const options = block["providerOptions"] ?? block["providerMetadata"]
  if (!isObject(options)) return {}
  const kept = Object.entries(options).map(([provider, values]) => {
    return [provider, isObject(values) ? rest(values, transport) : values] as const
  })
  return rest({ providerOptions: Object.fromEntries(kept.filter(([, values]) => !isEmpty(values))) })
}

const extrasOf = (block: JsonObject, ...read: ReadonlyArray<string>): JsonObject => ({
  ...rest(block, new Set(["type", "providerOptions", "providerMetadata", ...read])),
  ...optionsOf(block)
})

const isUrl = (value: string): boolean => /^(?:https?|data|gs|file|blob):/i.test(value)

/** Where a file is: in the text itself, or in an object that is tagged or has been generated. */
const placeOf = (value: Json | undefined): Media | null => {
  if (typeof value === "string" && value !== "") return isUrl(value) ? { url: value } : { data: value }
  const data = first(...["data", "base64", "base64Data", "uint8ArrayData"].map((key) => text(get(value, key))))
  const url = text(get(value, "url"))
  if (data !== null) return { data }
  return url === null ? null : { url }
}

const filePart = (block: JsonObject, key: string, modality?: string): Part | null => {
  const place = placeOf(block[key])
  if (place === null) return null
  const mimeType = ["mediaType", "mimeType"].map((name) => text(block[name]) ?? text(get(block, key, name)))
  return media(
    { ...place, mimeType: mimeType.find((type) => type !== null) ?? undefined, modality },
    extrasOf(block, key, "mediaType", "mimeType")
  )
}

/** Nesting of results up to which contents in contents are read. What is deeper is kept as it is. */
const maxDepth = 8

/** What a tool answered: results in messages say of which type they are, and those in contents are the value itself. */
const responseOf = (result: Json | undefined, depth: number): Json | undefined => {
  const names = isObject(result) ? Object.keys(result).filter((key) => key !== "providerOptions") : []
  if (names.length !== 2 || !names.includes("value")) return result
  const value = get(result, "value")
  switch (get(result, "type")) {
    case "content":
      return Array.isArray(value) ? value.flatMap((item: Json) => partsOfBlock(item, depth + 1)) : value
    case "text":
    case "json":
    case "error-text":
    case "error-json":
      return value
    default:
      return result
  }
}

const resultPart = (block: JsonObject, depth: number): Part => {
  const key = ["output", "result", "error"].find((name) => block[name] !== undefined) ?? "output"
  const isError = text(get(block, key, "type"))?.startsWith("error-") === true
  const failed = isError || key === "error" || block["isError"] === true
  return part(
    "tool_call_response",
    { id: block["toolCallId"], name: block["toolName"], response: responseOf(block[key], depth) },
    { ...extrasOf(block, key, "toolCallId", "toolName", "isError"), ...(failed ? { is_error: true } : {}) }
  )
}

const saidPart = (type: "text" | "reasoning", block: JsonObject): ReadonlyArray<Part> => {
  const extras = extrasOf(block, "text")
  return block["text"] === "" && Object.keys(extras).length === 0
    ? []
    : [part(type, { content: block["text"] }, extras)]
}

const knownParts = (block: JsonObject, depth: number): ReadonlyArray<Part | null> | null => {
  switch (block["type"]) {
    case "text":
    case "reasoning":
      return typeof block["text"] === "string" ? saidPart(block["type"], block) : null
    case "image":
      return [filePart(block, "image", "image")]
    case "file":
      return [filePart(block, "data") ?? filePart(block, "file") ?? filePart(block, "url")]
    case "tool-call": {
      const { toolCallId: id, toolName: name } = block
      const key = block["input"] === undefined ? "args" : "input"
      return [
        part(
          "tool_call",
          { id, name, arguments: argumentsOf(block[key]) },
          extrasOf(block, key, "toolCallId", "toolName")
        )
      ]
    }
    case "tool-result":
    case "tool-error":
      return [resultPart(block, depth)]
    default:
      return null
  }
}

const partsOfBlock = (block: Json, depth = 0): ReadonlyArray<Part> => {
  if (typeof block === "string") return saidPart("text", { text: block })
  if (!isObject(block) || depth > maxDepth) return [generic(block)]
  const known = knownParts(block, depth)?.filter((item) => item !== null)
  return known === undefined || (known.length === 0 && block["text"] === undefined)
    ? [generic({ ...extrasOf(block), type: block["type"] ?? null })]
    : known
}

export const partsOf = (content: Json | undefined): ReadonlyArray<Part> => {
  if (content === undefined || content === null) return []
  return (Array.isArray(content) ? content : [content]).flatMap((block: Json) => partsOfBlock(block))
}

export const messageOf = (message: Json): Message => {
  if (!isObject(message)) return { role: "user", parts: partsOf(message) }
  // Messages of a user interface have `parts`.
  const key = message["content"] === undefined ? "parts" : "content"
  return messageWith(
    { role: text(message["role"]) ?? "user", parts: partsOf(message[key]), name: text(message["name"]) },
    null,
    { ...extrasOf(message, key, ...texts(message, "role", "name")), ...rest({ type: message["type"] ?? null }) }
  )
}

const isResult = (block: Json): boolean =>
  ["tool-result", "tool-error"].includes(text(get(block, "type")) ?? "") && get(block, "providerExecuted") !== true

/** The messages that a step's content stands for. What the application's own tools answered is a message of its own. */
export const messagesOfContent = (content: Json | undefined, hasResults: boolean): ReadonlyArray<Message> => {
  // Sources stand with the message, because they are not sent back.
  const blocks = list(content).filter((block) => get(block, "type") !== "source")
  const results = hasResults ? blocks.filter(isResult) : []
  const said = partsOf(results.length > 0 ? blocks.filter((block) => !isResult(block)) : blocks)
  const called = new Set(
    blocks.filter((block) => get(block, "type") === "tool-call").map((block) => get(block, "toolCallId"))
  )
  // A result repeats the input of its call, which results that are sent back do not.
  const bare = results.map((block) =>
    called.has(get(block, "toolCallId")) ? rest(block, new Set(["input", "args"])) : block
  )
  return [{ role: "assistant", parts: said }, ...(bare.length > 0 ? [{ role: "tool", parts: partsOf(bare) }] : [])]
}
