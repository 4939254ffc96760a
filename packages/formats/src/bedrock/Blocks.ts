/** The contents of Converse, by the one key that each has. */
import type { Json, JsonObject } from "../Format.ts"
import { count, get, isEmpty, isObject, list, text } from "../json/Read.ts"

/** The name of a content's type, and its value. */
export const kindOf = (block: Json): readonly [kind: string, value: Json] => {
  const [first] = isObject(block) ? Object.entries(block) : []
  return first ?? ["", block]
}

const formats: ReadonlyMap<string, string> = new Map([
  ["pdf", "application/pdf"],
  ["txt", "text/plain"],
  ["md", "text/markdown"],
  ["doc", "application/msword"],
  ["docx", "application/vnd.openxmlformats-officedocument.wordprocessingml.document"],
  ["xls", "application/vnd.ms-excel"],
  ["xlsx", "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet"]
])

/** The media type of an image, a document, a video or a sound. */
export const mediaTypeOf = (kind: string, value: Json): string => {
  const format = text(get(value, "format")) ?? "octet-stream"
  return kind === "document" ? (formats.get(format) ?? `text/${format}`) : `${kind}/${format}`
}

/** The bytes of one in base64, or its address. */
export const sourceOf = (value: Json): { readonly data?: string; readonly url?: string } => {
  const [data, url] = [text(get(value, "source", "bytes")), text(get(value, "source", "s3Location", "uri"))]
  if (data !== null) return { data }
  return url === null ? {} : { url }
}

/** A content that is no other's: its name is its type. */
export const generic = (kind: string, value: Json): JsonObject =>
  isObject(value) ? { ...value, type: kind } : { type: kind, value }

/** A text, also one with citations. */
export const textIn = (kind: string, value: Json): string | undefined => {
  if (kind === "text" && typeof value === "string") return value
  if (kind !== "citationsContent") return undefined
  return list(get(value, "content"))
    .map((part) => text(get(part, "text")) ?? "")
    .join("")
}

/** The marks of a cache stand behind what they are for: each is put on that, as `cache_control`. */
export const withMarks = (
  blocks: ReadonlyArray<Json>,
  read: (block: Json) => JsonObject | undefined
): ReadonlyArray<JsonObject> => {
  const made: Array<JsonObject> = []
  for (const block of blocks) {
    const mark = get(block, "cachePoint")
    const last = made.at(-1)
    if (mark === undefined) {
      const one = read(block)
      if (one !== undefined) made.push(one)
    } else if (last !== undefined) {
      const ttl = text(get(mark, "ttl"))
      made[made.length - 1] = { ...last, cache_control: { type: "ephemeral", ...(ttl === null ? {} : { ttl }) } }
    }
  }
  return made
}

/** Fields that are there. */
export const fields = (all: Readonly<Record<string, Json | undefined>>): JsonObject =>
  Object.fromEntries(Object.entries(all).filter((entry): entry is [string, Json] => !isEmpty(entry[1])))

/** The request's settings under the names that both formats have, and what has no other name under its own. */
export const settingsOf = (request: JsonObject): JsonObject => {
  const {
    additionalModelRequestFields: own,
    inferenceConfig,
    messages: _m,
    system: _s,
    toolConfig: _t,
    ...others
  } = request
  const {
    maxTokens,
    stopSequences: _stop,
    temperature,
    topP,
    ...more
  } = isObject(inferenceConfig) ? inferenceConfig : {}
  return {
    ...fields({ max_tokens: maxTokens, temperature, top_p: topP, ...others, ...more }),
    ...(isObject(own) ? own : {})
  }
}

export interface Tool {
  readonly name: Json | undefined
  readonly description: Json | undefined
  readonly schema: Json | undefined
}

/** The definition of a tool of the application; undefined for any other. */
export const toolIn = (tool: Json): Tool | undefined => {
  const spec = get(tool, "toolSpec")
  if (spec === undefined) return undefined
  return { name: get(spec, "name"), description: get(spec, "description"), schema: get(spec, "inputSchema", "json") }
}

/** The tier that served an answer. Faster models cost more, whatever the tier. */
export const tierOf = (answer: JsonObject): Json | undefined => {
  const latency = get(answer, "performanceConfig", "latency")
  return (latency ?? "standard") === "standard" ? get(answer, "serviceTier", "type") : latency
}

/** The tokens that a usage says were written to the cache for a time: of `{ ttl, inputTokens }`. Undefined where it does not say. */
export const writtenFor = (usage: Json | undefined, ttl: "5m" | "1h"): number | undefined => {
  const details = list(get(usage, "cacheDetails")).filter((detail) => get(detail, "ttl") === ttl)
  const sizes = details.map((detail) => count(get(detail, "inputTokens"))).filter((size) => size !== null)
  return sizes.length === 0 ? undefined : sizes.reduce((total, size) => total + size, 0)
}
