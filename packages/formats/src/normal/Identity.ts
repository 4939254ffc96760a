/** What makes two messages the same one. */
import type { Json, Message, Part } from "../Format.ts"
import { stringify } from "../json/ExactJson.ts"
import { quietParts } from "./Noise.ts"

/** Fields of a part that say how it was transported or cited, and that clients leave out or change when they send it back. */
const marks: ReadonlySet<string> = new Set([
  "item_id",
  "status",
  "annotations",
  "citations",
  "logprobs",
  "phase",
  "thoughtSignature",
  "client_call_id",
  "providerOptions",
  "dynamic"
])

/** Results of the provider's own tools, which clients leave out when they send a call back. */
const results: ReadonlySet<string> = new Set(["outputs", "results"])

const hasOwnId = (part: Part): boolean => part.type === "tool_call" || part.type === "tool_call_response"

const isMark = (part: Part, key: string, value: Json | undefined): boolean =>
  value === undefined ||
  value === null ||
  marks.has(key) ||
  (key === "id" && !hasOwnId(part)) ||
  (results.has(key) && part.type.endsWith("_call") && part.type !== "tool_call")

/** SDKs of Google send bytes back in the alphabet that base64 has in URLs. */
const inOneAlphabet = (part: Part, key: string, value: Json): Json =>
  part.type === "blob" && key === "content" && typeof value === "string"
    ? value.replaceAll("-", "+").replaceAll("_", "/")
    : value

const withoutMarks = (part: Part): Part => ({
  ...Object.fromEntries(
    Object.entries(part)
      .filter(([key, value]) => !isMark(part, key, value))
      .map(([key, value]) => [key, inOneAlphabet(part, key, value)])
  ),
  type: part.type
})

/**
 * A text that is empty but for its marks says nothing, and neither does a part of the AI SDK with which an answer begins that is streamed: some
 * clients leave them out.
 */
const saysNothing = ({ kind, type, ...others }: Part): boolean =>
  (type === "text" && kind === undefined && Object.keys(others).length === 0) || kind === "anthropic.message_start"

/**
 * A text that is equal for two messages that say the same: their role, name and parts, without reasons to stop, ids of items
 * and statuses, whatever the order of keys. Reasoning counts only where a message holds nothing else, because many providers
 * want an answer back without it.
 */
export const identity = (message: Message): string => {
  const told = quietParts(message)
    .map(withoutMarks)
    .filter((part) => !saysNothing(part))
  const said = told.filter((part) => part.type !== "reasoning")
  return stringify({ role: message.role, name: message.name ?? null, parts: said.length > 0 ? said : told }, true)
}
