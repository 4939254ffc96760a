/** What a part of a message says, as one text: for lines, for finding, for copying. */
import type { Message, Part } from "../server/Types.ts"
import { withoutCsi } from "./Hidden.ts"

export const textOf = (value: unknown): string => {
  if (typeof value === "string") return value
  return value === undefined ? "" : JSON.stringify(value, undefined, 2)
}

export const isPart = (value: unknown): value is Part => typeof (value as Part | null)?.type === "string"

const kindOf = (part: Part): unknown => part["mime_type"] ?? part["modality"] ?? "file"

/** The field that a part has by its type. A tool may answer lists of its own, whose elements have types too. */
const saidIn: Readonly<Record<string, string>> = { text: "content", reasoning: "content", blob: "content", uri: "uri" }

const saysSomething = (value: unknown): value is Part =>
  isPart(value) && Object.hasOwn(saidIn, value.type) && typeof value[saidIn[value.type]!] === "string"

/** A list of parts, as results of tools often are, is what they say. */
const responseOf = (value: unknown): string =>
  Array.isArray(value) && value.every(saysSomething) ? value.map(ofPart).join("\n") : textOf(value)

export const ofPart = (part: Part): string => {
  switch (part.type) {
    case "text":
    case "reasoning":
      return textOf(part["content"])
    case "refusal":
      return textOf(part["refusal"])
    case "tool_call":
      return `${textOf(part["name"])} ${textOf(part["arguments"])}`
    case "tool_call_response":
      return responseOf(part["response"])
    // Its bytes say nothing.
    case "blob":
      return `[${textOf(kindOf(part))}]`
    case "uri":
      return `[${textOf(kindOf(part))} ${textOf(part["uri"])}]`
    default:
      return textOf(part)
  }
}

export const ofMessage = (message: Pick<Message, "parts">): string => message.parts.map(ofPart).join("\n")

export const ofMessages = (messages: ReadonlyArray<Pick<Message, "parts">>): string =>
  messages.map(ofMessage).join("\n\n")

/** Characters that a line of a summary has at most. */
const maxLine = 160

/** The beginning, on one line. */
export const line = (text: string, max = maxLine): string => {
  const clean = withoutCsi(text.slice(0, 4 * max))
    .replace(/\s+/g, " ")
    .trim()
  return clean.length > max ? `${clean.slice(0, max)}…` : clean
}

/** Code, bold and links. Two underscores are no mark here: `__init__.py` is more often a name than bold. */
const marks = /`([^`]+)`|\*\*(?! )([^*]+)\*\*|!?\[([^[\]]*)\]\([^()\s]*\)/g

/** The beginning or the end of a block of code, which stands on a line of its own. */
const fence = /(^|\s)`{3,6}[\w+-]*(?=\s|$)/g

/** A session's title as words: the marks of Markdown within a line say nothing without their line. */
export const title = (text: string): string =>
  line(text.replace(fence, "$1"), 200)
    .replace(/^(?:#{1,6}|>) /, "")
    .replace(marks, "$1$2$3")

/** The arguments of a tool call on one line: the only one by its value, several by name. */
export const argumentsLine = (value: unknown): string => {
  if (typeof value !== "object" || value === null || Array.isArray(value)) return line(textOf(value))
  const entries = Object.entries(value)
  const [only] = entries
  if (entries.length === 1 && typeof only![1] === "string") return line(only![1])
  return line(
    entries.map(([name, each]) => `${name}: ${typeof each === "string" ? each : JSON.stringify(each)}`).join("  ")
  )
}

const encoder = new TextEncoder()
const sizes = new WeakMap<object, number>()

/** Approximate bytes of a message as it is sent. */
export const bytesOf = (message: Pick<Message, "parts">): number => {
  const known = sizes.get(message)
  if (known !== undefined) return known
  const size = encoder.encode(JSON.stringify(message.parts)).length
  sizes.set(message, size)
  return size
}
