/** Messages as Genkit has them, whose blocks have no types. */
import type { Json, JsonObject, Message, Part } from "../Format.ts"
import { get, isEmpty, isObject, list, rest, says, text } from "../json/Read.ts"
import { generic, media, messageFrom, part } from "../normal/Parts.ts"

const keys = ["text", "reasoning", "media", "toolRequest", "toolResponse", "data", "custom", "resource"]

export const is = ({ content }: JsonObject): boolean =>
  list(content).length > 0 &&
  list(content).every((block) => !says(block, "type") && keys.some((key) => get(block, key) !== undefined))

/** What a provider wants to have back stands beside a block. */
const extrasOf = (block: Json): JsonObject => {
  const { thoughtSignature, ...others } = rest(get(block, "metadata"))
  return { ...rest({ thoughtSignature: thoughtSignature ?? null }), ...rest({ metadata: others }) }
}

const partOf = (block: Json): ReadonlyArray<Part> => {
  const extras = extrasOf(block)
  for (const [key, type] of [
    ["text", "text"],
    ["reasoning", "reasoning"]
  ] as const) {
    const content = get(block, key)
    if (typeof content === "string") return content === "" && isEmpty(extras) ? [] : [part(type, { content }, extras)]
  }
  const [call, response, file] = ["toolRequest", "toolResponse", "media"].map((key) => get(block, key))
  if (isObject(call)) {
    const { input, name, ref, ...others } = call
    return [part("tool_call", { id: ref, name, arguments: input }, { ...others, ...extras })]
  }
  if (isObject(response)) {
    const { name, output, ref, ...others } = response
    return [part("tool_call_response", { id: ref, name, response: output }, { ...others, ...extras })]
  }
  const url = text(get(file, "url"))
  return [url === null ? generic(block) : media({ url, mimeType: text(get(file, "contentType")) ?? undefined }, extras)]
}

export const messageOf = (message: JsonObject): Message =>
  messageFrom(message, text(message["role"]) ?? "user", list(message["content"]).flatMap(partOf), "content", "metadata")

const isPlain = (part: Part | undefined): part is Part & { readonly content: string } =>
  part !== undefined &&
  /^(?:text|reasoning)$/.test(part.type) &&
  typeof part["content"] === "string" &&
  Object.keys(part).length === 2

/** A message of which a stream cut the texts: what came in pieces is one text when it is sent back. */
export const joined = (message: Message): Message => {
  const parts: Array<Part> = []
  for (const part of message.parts) {
    const last = parts.at(-1)
    if (isPlain(part) && isPlain(last) && part.type === last.type)
      parts[parts.length - 1] = { ...last, content: last.content + part.content }
    else parts.push(part)
  }
  return { ...message, parts }
}
