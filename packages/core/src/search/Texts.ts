/** The texts of a call that search looks at: what its messages say, and the arguments and results of its tool calls. */
import type { Conversation, Json, Message, Part } from "@tachograph/formats"
import * as ExactJson from "@tachograph/formats/json/ExactJson"
import { get, rest } from "@tachograph/formats/json/Read"
import { isInstructionPart } from "@tachograph/formats/normal/Instructions"

export interface Text {
  /** Of the message; `tool` for what tools answer, and `system` for instructions that are in no message of their own. */
  readonly role: string
  readonly text: string
}

type Value = ExactJson.ExactJson | undefined

/** Fields of a part that say nothing: what it is, and data for programs. */
const data: ReadonlySet<string> = new Set([
  ...["type", "id", "item_id", "call_id", "tool_use_id", "file_id", "container_id", "status", "mime_type", "modality"],
  ...["signature", "thoughtSignature", "encrypted_content", "encrypted_stdout", "encrypted_index", "logprobs"]
])

/** Where parts that are no text hold their bytes or their address. What stands beside it may be text, such as the transcript of a sound. */
const media: ReadonlyMap<string, string> = new Map([
  ["blob", "content"],
  ["uri", "uri"],
  ["file", "file_id"]
])

/** Fields of a message that are not what else it says beside its parts. */
const knownOfMessage: ReadonlySet<string> = new Set(["role", "name", "parts", "finish_reason"])

/** Fields that hold bytes in base64, such as an image in the result of a tool. */
const bytes: ReadonlySet<string> = new Set([
  "data",
  "b64_json",
  "file_data",
  "image_data",
  "result",
  "url",
  "image_url"
])

const isBytes = (key: string, value: Value): boolean =>
  bytes.has(key) &&
  typeof value === "string" &&
  (/^data:[^,]{0,256};base64,/i.test(value) || (value.length >= 1024 && /^[\w+/=-]*$/.test(value.slice(0, 1024))))

interface Walk {
  /** Whether the keys of objects are texts, as the names of arguments are. */
  readonly hasKeys: boolean
  /** Objects without their fields of these names. */
  readonly without?: ReadonlySet<string>
}

/** The strings and numbers of a value, in order, and the keys of its objects. Takes values of any depth. */
function* leavesOf(value: Value, { hasKeys, without }: Walk): Generator<string> {
  const open: Array<Value> = [value]
  while (open.length > 0) {
    const next = open.pop()
    if (typeof next === "string") {
      if (next !== "") yield next
    } else if (typeof next === "number") yield String(next)
    else if (next instanceof ExactJson.ExactNumber) yield next.source
    else if (Array.isArray(next)) {
      for (let index = next.length - 1; index >= 0; index--) open.push(next[index] as Value)
    } else if (typeof next === "object" && next !== null) {
      const entries = Object.entries(next)
      for (const [key, item] of entries.reverse()) {
        if (without?.has(key) === true || isBytes(key, item as Value)) continue
        open.push(item as Value)
        if (hasKeys) open.push(key)
      }
    }
  }
}

const everything: Walk = { hasKeys: true }
const said: Walk = { hasKeys: false, without: data }

/** Whether a result is a list of blocks, as messages have them. */
const areBlocks = (response: Json | undefined): boolean =>
  Array.isArray(response) && response.every((block) => typeof get(block, "type") === "string")

/** What a JSON text of an object or an array holds; undefined for any other text. */
const parsed = (text: string): Value => {
  if (!/^\s*[[{]/.test(text)) return undefined
  try {
    return ExactJson.parse(text)
  } catch {
    return undefined
  }
}

/**
 * The texts of a part. A result that is JSON in a string is a text of its own, and so is each text in it: `isFound` decides which is
 * meant, the first of them that it is true of.
 */
function* textsOf(part: Part, isFound: (text: string) => boolean): Generator<string> {
  const bytesKey = media.get(part.type)
  if (bytesKey !== undefined) return yield* leavesOf(rest(part, new Set([bytesKey])), said)
  if (part.type === "tool_call") return yield* leavesOf(part["arguments"], everything)
  if (part.type !== "tool_call_response") return yield* leavesOf(part, said)
  const { response } = part
  for (const text of leavesOf(response, areBlocks(response) ? said : everything)) {
    const inner = isFound(text) ? undefined : parsed(text)
    if (inner === undefined) yield text
    else yield* leavesOf(inner, everything)
  }
}

/** Some formats have the answers of tools in messages of the user, and some clients have instructions there. */
const roleOf = (message: Message, part: Part): string => {
  if (part.type === "tool_call_response") return "tool"
  return message.role === "user" && isInstructionPart(message, part) ? "system" : message.role
}

/** In the order of the conversation: instructions, what was sent, what was answered. */
export function* of(
  { input, instructions, output }: Conversation,
  isFound: (text: string) => boolean
): Generator<Text> {
  const messages: ReadonlyArray<Message> = [{ role: "system", parts: instructions }, ...input, ...output]
  for (const message of messages) {
    const { parts, role } = message
    for (const part of parts) for (const text of textsOf(part, isFound)) yield { role: roleOf(message, part), text }
    for (const text of leavesOf(rest(message, knownOfMessage), said)) yield { role, text }
  }
}
