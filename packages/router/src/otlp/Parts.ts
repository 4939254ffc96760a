/** Spans and log records as they wait in the storage: each is a part of a group, which is finished as one. */
import type { Link } from "@tachograph/capture/spans/Assemble"
import type { LogRecord, Span } from "@tachograph/capture/spans/Span"
import { hash } from "node:crypto"
import { deflateRawSync, inflateRawSync } from "node:zlib"

/** A `context` is a span that was recorded, of which children that come later need to know whose it is. */
export type Told =
  | { readonly span: Span }
  | { readonly context: Span }
  | { readonly log: LogRecord }
  | { readonly link: Link }

/** Whose data is erased. */
export type Erased = { readonly session: string } | { readonly person: string }

/** A part that is ready to wait. */
export interface Part {
  readonly group: string
  readonly part: string
  /** Bytes of its text. */
  readonly size: number
  readonly content: Uint8Array
}

const short = (text: string): string => hash("sha256", text).slice(0, 32)

/** What joins parts: their trace, or the session, of a log record that has no trace, and of a program that makes one for each call. */
const groupOf = (told: Told): string => {
  if ("link" in told) return told.link.traceId
  const { attributes, scope, traceId } = Object.values(told)[0] as Span | LogRecord
  if (traceId !== "" && scope.name !== "gemini-cli") return traceId
  return `session ${short(String(attributes.get("session.id") ?? attributes.get("gen_ai.conversation.id") ?? attributes.get("conversation.id") ?? ""))}`
}

export const contextHead = "context "

/**
 * Each of what is told has a part, which is the same when it is told again: two exporters may tell one span, each with attributes of its own. A
 * post may have `nth` equal log records.
 */
const nameOf = (told: Told, text: string, nth: number): string => {
  if ("context" in told) return `${contextHead}${told.context.spanId} ${short(text)}`
  if ("span" in told) return `span ${told.span.spanId} ${short(text)}`
  if ("link" in told) return `link ${told.link.spanId}`
  return `log ${nth} ${short(text)}`
}

const isMap = "map of attributes"
const isInteger = "integer of 64 bits"
const isObject = "object of entries"

const marks = [isMap, isInteger, isObject]

const toJson = (_key: string, value: unknown): unknown => {
  if (value instanceof Map) return { [isMap]: Array.from(value) }
  if (typeof value === "bigint") return { [isInteger]: String(value) }
  // A value of an attribute may have the names that have a meaning here.
  return typeof value === "object" && value !== null && marks.some((mark) => Object.hasOwn(value, mark))
    ? { [isObject]: Object.entries(value) }
    : value
}

type Entries = ReadonlyArray<readonly [string, unknown]>

const fromJson = (_key: string, value: unknown): unknown => {
  if (typeof value !== "object" || value === null) return value
  if (Object.hasOwn(value, isMap)) return new Map((value as { readonly [isMap]: Entries })[isMap])
  if (Object.hasOwn(value, isObject)) return Object.fromEntries((value as { readonly [isObject]: Entries })[isObject])
  if (!Object.hasOwn(value, isInteger)) return value
  const text = (value as { readonly [isInteger]: string })[isInteger]
  // A pattern may have matched it.
  return /^-?\d+$/.test(text) ? BigInt(text) : text
}

const idsOf = (told: Told) => {
  const { parentSpanId, spanId, traceId } = Object.values(told)[0] as Partial<Span> & Pick<Span, "spanId" | "traceId">
  return { traceId, spanId, parentSpanId }
}

/** What is told, but for the ids: patterns would find numbers of telephones in them. */
export const textOf = (told: Told): string => {
  const [[kind, value] = []] = Object.entries(told) as ReadonlyArray<[string, object]>
  return JSON.stringify(
    { [kind!]: { ...value, traceId: undefined, spanId: undefined, parentSpanId: undefined } },
    toJson
  )
}

/**
 * `text` is that of `told`, which may have been masked. `order` is its place in what a post tells: some emitters tell the messages of a call one by
 * one, all at one time.
 */
export const of = (told: Told, text: string, nth: number, order: number): Part => {
  const ids = idsOf(told)
  const bytes = Buffer.from(`${JSON.stringify({ ...ids, order })}\n${text}`)
  return {
    group: groupOf(told),
    part: nameOf(told, `${JSON.stringify(ids)}\n${text}`, nth),
    size: bytes.length,
    content: deflateRawSync(bytes, { level: 1 })
  }
}

const erasedHead = "erased "

/** What stands for who was erased, whose name may stand nowhere any more. */
export const nameOfErased = (erased: Erased): string => short(JSON.stringify(erased))

/**
 * A part that says what was erased while others of its group waited, of which it was not known yet whose they are. It is read before all others
 * of the group.
 */
export const ofErased = (group: string, erased: Erased, at: number): Part & { readonly since: number } => ({
  group,
  part: `${erasedHead}${at} ${nameOfErased(erased)}`,
  size: 0,
  content: new Uint8Array(),
  since: 0
})

/** When (epoch ms) who was erased; undefined for every other part. */
export const erasedIn = ({ part }: Pick<Part, "part">): { readonly at: number; readonly name: string } | undefined => {
  if (!part.startsWith(erasedHead)) return undefined
  const [at, name] = part.slice(erasedHead.length).split(" ")
  return { at: Number(at), name: name! }
}

/** The longest text of a part (bytes): no post is longer. */
const maxText = 256 * 1024 * 1024

/** What a part tells, and its order. */
export const toldIn = ({ content }: Pick<Part, "content">): { readonly told: Told; readonly order: number } => {
  const whole = inflateRawSync(content, { maxOutputLength: maxText }).toString()
  const end = whole.indexOf("\n")
  const [[kind, value] = []] = Object.entries(JSON.parse(whole.slice(end), fromJson) as Record<string, object>)
  const { order, ...ids } = JSON.parse(whole.slice(0, end)) as { readonly order: number }
  return { told: { [kind!]: { ...value, ...ids } } as unknown as Told, order }
}
