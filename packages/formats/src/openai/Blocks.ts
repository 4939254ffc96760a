/** Blocks of content and definitions of tools as OpenAI's two formats have them. */
import type { Json, JsonObject, Part } from "../Format.ts"
import { get, isEmpty, isObject, list, many, rest, text, texts } from "../json/Read.ts"
import { beside, generic, media, part } from "../normal/Parts.ts"

/** Marks for caches. They are no part of what was said. */
const transport = ["cache_control", "prompt_cache_breakpoint"]

/** The keys of a set that `rest` leaves out, with the marks for caches. */
export const except = (...keys: ReadonlyArray<string>): ReadonlySet<string> => new Set([...transport, ...keys])

/** Types of blocks that are text. */
const textTypes = /^(?:(?:input|output|summary|reasoning)_)?text$/

/** A block as it is, without the marks for caches. */
const plain = (block: Json): Part => generic(isObject(block) ? rest(block, except()) : block)

/** What a tool gave back: a list of blocks is without the marks, and the one text of a list that holds nothing else. */
export const resultOf = (content: Json | undefined): Json | undefined => {
  if (!Array.isArray(content)) return content
  const blocks = list(content).map((block) => (isObject(block) ? rest(block, except()) : block))
  const [block] = blocks
  const isText = blocks.length === 1 && isObject(block) && Object.keys(block).length === 2
  const said = isText && textTypes.test(String(get(block, "type"))) ? text(get(block, "text")) : null
  return said ?? blocks
}

const mimeOfSound = (format: string | null): string | undefined => {
  if (format === null) return undefined
  return format === "mp3" ? "audio/mpeg" : `audio/${format}`
}

/** The texts of a list of blocks, or null where the list holds anything but text. Whether they say it all: a block may hold more. */
export const textsOf = (blocks: Json | undefined, between: string) => {
  const pieces = list(blocks).map((block) => get(block, "text"))
  if (pieces.length === 0 || !pieces.every((piece) => typeof piece === "string")) return null
  const isAll = list(blocks).every(
    (block) => textTypes.test(String(get(block, "type") ?? "text")) && isEmpty(rest(block, except("type", "text")))
  )
  return { said: pieces.join(between), isAll }
}

/** Where a block of reasoning has its text, or the list of its texts, which Mistral cuts anywhere. */
const thoughts: ReadonlyArray<readonly [key: string, between: string]> = [
  ["thinking", ""],
  ["reasoning", ""],
  ["text", ""],
  ["content", "\n\n"],
  ["summary", "\n\n"]
]

const thoughtOf = (block: Json): Part => {
  const [key, between] = thoughts.find(([name]) => !isEmpty(get(block, name))) ?? ["thinking", ""]
  const said = text(get(block, key))
  const read = said === null ? textsOf(get(block, key), between) : { said, isAll: true }
  if (read === null) return plain(block)
  return part("reasoning", { content: read.said }, rest(block, except("type", ...(read.isAll ? [key] : []))))
}

/** The extras of a block and of the object in it that holds its content. */
const extrasOf = (block: Json, key: string, ...known: ReadonlyArray<string>): JsonObject =>
  beside(rest(get(block, key), except(...known)), rest(block, except("type", key)))

/** An address stands in an object with `url`, or is the value itself. */
const mediaAt = (block: Json, key: string, modality: string): Part => {
  const url = text(get(block, key, "url")) ?? text(get(block, key)) ?? undefined
  return url === undefined ? plain(block) : media({ url, modality }, extrasOf(block, key, "url"))
}

const fileKeys = ["file_data", "file_url", "file_id"]

const fileOf = (block: Json, file: Json | undefined, extras: JsonObject): Part => {
  const [data, url, fileId] = fileKeys.map((key) => text(get(file, key)) ?? undefined)
  const used = fileKeys.find((key) => text(get(file, key)) !== null)
  return used === undefined ? plain(block) : media({ data, url, fileId }, rest(extras, new Set([used])))
}

const partOfBlock = (block: Json): Part | null => {
  if (typeof block === "string") return block === "" ? null : part("text", { content: block })
  const type = get(block, "type")
  switch (type) {
    case "text":
    case "input_text":
    case "output_text": {
      const extras = rest(block, except("type", "text"))
      const isSaid = !isEmpty(get(block, "text")) || !isEmpty(extras)
      return isSaid ? part("text", { content: get(block, "text") }, extras) : null
    }
    case "image_url":
      return mediaAt(block, "image_url", "image")
    case "input_image": {
      const fileId = text(get(block, "file_id"))
      return fileId === null
        ? mediaAt(block, "image_url", "image")
        : media({ fileId, modality: "image" }, rest(block, except("type", "file_id")))
    }
    case "video_url":
      return mediaAt(block, "video_url", "video")
    case "audio_url":
      return mediaAt(block, "audio_url", "audio")
    case "document_url":
      return mediaAt(block, "document_url", "document")
    case "input_audio": {
      const data = text(get(block, "input_audio", "data"))
      if (data === null) return plain(block)
      const mimeType = mimeOfSound(text(get(block, "input_audio", "format")))
      return media(
        { data, mimeType, modality: "audio" },
        extrasOf(block, "input_audio", "data", ...texts(get(block, "input_audio"), "format"))
      )
    }
    case "input_file":
      return fileOf(block, block, rest(block, except("type")))
    case "file":
      return fileOf(block, get(block, "file"), extrasOf(block, "file"))
    case "refusal":
      return part("refusal", { refusal: get(block, "refusal") }, rest(block, except("type", "refusal")))
    case "thinking":
    case "reasoning":
    case "reasoning_text":
    case "reasoning_content":
      return thoughtOf(block)
    default:
      return isEmpty(block) ? null : plain(block)
  }
}

/** The parts of content, which is text or a list of blocks. */
export const partsOfContent = (content: Json | undefined): ReadonlyArray<Part> =>
  many(content)
    .map(partOfBlock)
    .filter((item) => item !== null)

/** A definition of a tool with its name, description and parameters at the top. */
export const toolOf = (tool: Json): JsonObject => {
  if (!isObject(tool)) return { type: "unknown", content: tool }
  const described = get(tool, "function")
  const outer = Object.entries(tool).filter(([key]) => !transport.includes(key))
  if (!isObject(described)) return Object.fromEntries(outer)
  return beside(described, Object.fromEntries(outer.filter(([key]) => key !== "function")))
}
