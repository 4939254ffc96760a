/** Builds parts of messages as the OpenTelemetry semantic conventions for generative AI name them. */
import type { Json, JsonObject, Part } from "./Format.ts"
import { parseFaithfully } from "./json/ExactJson.ts"
import { isEmpty, isObject } from "./json/Read.ts"

/** A part with its fields in order; those that say nothing are left out. */
export const part = (
  type: string,
  fields: Readonly<Record<string, Json | undefined>>,
  extras: JsonObject = {}
): Part => ({
  type,
  ...Object.fromEntries(Object.entries(fields).filter(([, value]) => !isEmpty(value))),
  // Defined and not assigned, because a key may be `__proto__`. The part's own fields win.
  ...Object.fromEntries(Object.entries(extras).filter(([key]) => key !== "type" && isEmpty(fields[key])))
})

/** The arguments of a tool call: parsed where they are JSON text, the text itself where they are not. */
export const argumentsOf = (value: Json | undefined): Json | undefined => {
  if (typeof value !== "string") return value
  const parsed = parseFaithfully(value)
  return parsed === undefined ? value : parsed
}

/** A part that is none of the conventions': the provider's own object, whole. */
export const generic = (value: Json): Part => {
  if (!isObject(value)) return { type: "unknown", content: value }
  return typeof value["type"] === "string" ? (value as Part) : { ...value, type: "unknown" }
}

const modalityOf = (mimeType: string | undefined): string | undefined => {
  const [family] = (mimeType ?? "").split("/")
  if (family === "image" || family === "audio" || family === "video") return family
  return mimeType === undefined ? undefined : "document"
}

export interface Media {
  /** An http, https, gs or data URL. */
  readonly url?: string | undefined
  /** Base64. */
  readonly data?: string | undefined
  readonly fileId?: string | undefined
  readonly mimeType?: string | undefined
  /** What it is, where the type does not say it. */
  readonly modality?: string | undefined
}

/** The longest head of a data URL that is looked for, in characters. */
const maxHead = 256

const readDataUrl = (url: string) => {
  if (url.slice(0, 5).toLowerCase() !== "data:") return null
  const comma = url.slice(0, maxHead).indexOf(",")
  const head = url.slice(5, comma)
  if (comma === -1 || !/;base64$/i.test(head)) return null
  return { mimeType: head.slice(0, -";base64".length), data: url.slice(comma + 1) }
}

/** An image, sound, film or document: a `blob` with its bytes, a `uri` or a `file`. */
export const media = ({ url, data, fileId, mimeType, modality }: Media, extras: JsonObject = {}): Part => {
  const read = readDataUrl(data ?? url ?? "")
  const mime = mimeType ?? (read?.mimeType || undefined)
  const about = { mime_type: mime, modality: modality ?? modalityOf(mime) }
  const content = read?.data ?? data
  if (content !== undefined) return part("blob", { ...about, content }, extras)
  if (url !== undefined) return part("uri", { ...about, uri: url }, extras)
  return part("file", { ...about, file_id: fileId }, extras)
}
