/** Builds parts of messages as the OpenTelemetry semantic conventions for generative AI name them. */
import type { Json, JsonObject, Message, Part } from "../Format.ts"
import { parseFaithfully } from "../json/ExactJson.ts"
import { get, isEmpty, isObject, rest, text, texts } from "../json/Read.ts"

/** What stands beside some fields. Whatever has the name of one of them gets a name that is free, so that it is not lost. */
const renamed = (extras: JsonObject, isTaken: (key: string) => boolean): JsonObject =>
  // Made of entries and not assigned, because a key may be `__proto__`.
  Object.fromEntries(
    Object.entries(extras).map(([key, value]) => {
      let name = key
      while (isTaken(name) || (name !== key && Object.hasOwn(extras, name))) name = `provider_${name}`
      return [name, value]
    })
  )

/** Fields, and what stands beside them. */
export const beside = <A extends JsonObject>(fields: A, extras: JsonObject): A => ({
  ...fields,
  ...renamed(extras, (key) => Object.hasOwn(fields, key))
})

const ofMessage: ReadonlySet<string> = new Set(["role", "name", "parts", "finish_reason"])

interface PlainMessage {
  readonly role: string
  readonly parts: ReadonlyArray<Part>
  readonly name?: string | null | undefined
  readonly [key: string]: Json | undefined
}

/** A message with its reason to stop, and with what else stands beside it. */
export const messageWith = (
  { role, parts, name, ...about }: PlainMessage,
  reason: string | null,
  ...extras: ReadonlyArray<JsonObject>
): Message => ({
  role,
  ...(name ? { name } : {}),
  parts,
  ...(reason === null ? {} : { finish_reason: reason }),
  ...renamed(extras.reduce(beside, about as JsonObject), (key) => ofMessage.has(key))
})

/**
 * The messages of an answer of which each item is one. The last has the reason to stop, and the first what stands `about` the items,
 * also where the answer failed without an item.
 */
export const messagesOfItems = (
  items: ReadonlyArray<Message>,
  output: unknown,
  reason: string | null,
  about: JsonObject
): ReadonlyArray<Message> => {
  const isFailed = text(get(output, "status")) !== null && !isEmpty(get(output, "error"))
  const all = items.length === 0 && isFailed ? [{ role: "assistant", parts: [] }] : items
  return all.map((message, index) =>
    messageWith(message, index < all.length - 1 ? null : reason, index === 0 ? about : {})
  )
}

/** A message that was sent, with all that it holds but for what is `read` of it. */
export const messageFrom = (
  item: JsonObject,
  role: string,
  parts: ReadonlyArray<Part>,
  ...read: ReadonlyArray<string>
) =>
  messageWith(
    { role, parts, name: text(item["name"]) },
    null,
    rest(item, new Set([...read, ...texts(item, "role", "name")]))
  )

/** A part with its fields in order; those that say nothing are left out. */
export const part = (
  type: string,
  fields: Readonly<Record<string, Json | undefined>>,
  extras: JsonObject = {}
): Part => ({
  type,
  ...Object.fromEntries(Object.entries(fields).filter(([, value]) => !isEmpty(value))),
  ...renamed(extras, (key) => key === "type" || (Object.hasOwn(fields, key) && !isEmpty(fields[key])))
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
  const { type, ...others } = value
  return typeof type === "string" ? (value as Part) : part("unknown", { provider_type: type }, others)
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
