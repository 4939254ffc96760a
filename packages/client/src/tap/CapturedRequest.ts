/** What is kept of a request to a provider. The request itself is left as it is. */
import { recognise } from "@tachograph/capture"
import { type Asked, askedOf } from "@tachograph/capture/Endings"
import { type Kind, kindOf } from "@tachograph/capture/Kinds"
import { type ProgramNames, saidBy } from "@tachograph/capture/Programs"
import { answersIn, recogniseByAnswer } from "@tachograph/capture/Recognise"
import type { WireApi } from "@tachograph/formats"
import { secretsOf } from "../event/Secrets.ts"
import * as Timers from "../platform/Timers.ts"
import * as Utf8 from "../platform/Utf8.ts"
import { isRequest } from "../platform/Web.ts"
import * as RequestHeaders from "./RequestHeaders.ts"

type Input = Parameters<typeof fetch>[0]
type Init = Parameters<typeof fetch>[1]

/** Takes bytes of the budget. False where there is no room, or the call is not recorded any more. */
type Take = (bytes: number) => boolean

export interface CapturedRequest {
  readonly kind: Kind
  /** The call whose answer it asks for. */
  readonly asked: Asked | null
  /** The format of the call, by its address and its body as JSON, or by its answer as text; null where it is none. */
  readonly apiOf: (inputs?: Record<string, unknown>, answer?: string) => WireApi | null
  readonly url: URL
  /** Bytes that are held by keeping it from the start. */
  readonly bytes: number
  /** To be called once the request is on its way: keeps what is not kept yet. */
  readonly keep: (take: Take) => void
  /** Lets go of what was captured, where the call is not recorded. */
  readonly leave: () => void
  /** The body as text, if it can be read. To be called when the call is over. */
  readonly text: () => Promise<string | undefined> | string | undefined
  readonly secrets: (inputs: string) => ReadonlyArray<string>
  /** What the program that makes the call says of itself. */
  readonly said: () => ProgramNames
}

/** The address of a page or a worker, to which those of its calls may be relative. */
const baseOf = () => (globalThis as { readonly location?: { readonly href: string } }).location?.href

/** The method and the address of a request; undefined where there is no address. */
export const targetOf = (input: Input, init: Init): { readonly method: string; readonly url: URL } | undefined => {
  const request = isRequest(input) ? input : undefined
  try {
    const method = init?.method ?? request?.method ?? "GET"
    return { method: method.toUpperCase(), url: new URL(request?.url ?? String(input), baseOf()) }
  } catch {
    return undefined
  }
}

const noMore = () => {}

/** The units of the text, which is shared with the application. They take one byte each, or two. */
const bytesOf = (text: string): number => text.length

type Body = Pick<CapturedRequest, "bytes" | "keep" | "leave" | "text">

/**
 * Bodies of `init`. Texts and blobs cannot change, and are shared with the application. Bytes are copied as soon as `fetch` has
 * taken them: the application may use them again afterwards.
 */
const bodyOf = (body: NonNullable<NonNullable<Init>["body"]>): Body | undefined => {
  // Without a byte order mark, which no JSON text has, and which a decoder of bytes leaves out too.
  if (typeof body === "string")
    return { bytes: bytesOf(body), keep: noMore, leave: noMore, text: () => body.replace(/^\uFEFF/, "") }
  if (body instanceof ArrayBuffer || ArrayBuffer.isView(body)) {
    const { buffer, byteLength, byteOffset } = ArrayBuffer.isView(body) ? body : new Uint8Array(body)
    let copy: Uint8Array | undefined
    const keep = () => {
      copy = new Uint8Array(buffer, byteOffset, byteLength).slice()
    }
    return { bytes: byteLength, keep, leave: noMore, text: () => copy && Utf8.textOf([copy]) }
  }
  if (body instanceof Blob) {
    return { bytes: body.size, keep: noMore, leave: noMore, text: () => body.text().catch(() => undefined) }
  }
  return undefined
}

/** How many bytes of a body that comes in several chunks are read before `fetch` has sent them. */
const readAheadBytes = 1024 * 1024

/** How long a body that is read may go on after its call is over (ms): `fetch` has taken all of it, or will take no more. */
const lateMs = 1_000

/** The text of a stream. Undefined where it has no room, or is one of an application that goes on and on. */
const textOf = async (reader: ReadableStreamDefaultReader<Uint8Array>, take: Take): Promise<string | undefined> => {
  const decoder = new TextDecoder()
  const parts: Array<string> = []
  let length = 0
  for (;;) {
    const { done, value } = await reader.read()
    if (done) return parts.join("") + decoder.decode()
    length += value.byteLength
    if ((parts.length > 0 && length > readAheadBytes) || !take(value.byteLength)) {
      // The rest is for `fetch` alone, which reads it as the provider takes it.
      void reader.cancel().catch(() => {})
      return undefined
    }
    parts.push(decoder.decode(value, { stream: true }))
  }
}

/**
 * The body of a `Request`. Nothing says whether it was made of a text, which comes as one chunk, or of a stream, and a copy of
 * it that is not read would be held without a bound.
 */
const bodyOfRequest = (request: Request): Body | undefined => {
  if (request.body === null || request.bodyUsed) return undefined
  // `fetch` takes the original.
  const reader = request.clone().body!.getReader()
  let text: Promise<string | undefined> | undefined
  const keep = (take: Take) => {
    text = textOf(reader, take).catch(() => undefined)
  }
  const leave = () => void reader.cancel().catch(() => {})
  const wait = () => {
    const stop = Timers.after(lateMs, leave)
    return text?.finally(stop)
  }
  return { bytes: 0, keep, leave, text: wait }
}

interface Captured {
  readonly request: CapturedRequest
  /** To be given to `fetch`: equal to what the application gave. */
  readonly init: Init
}

/** Says that a request cannot be recorded, because its body cannot be read without touching it. */
class UnreadableBody extends Error {}

/** Why a request cannot be recorded. What the application has thrown may hold a key. */
export const causeOf = (error: unknown): Error =>
  error instanceof UnreadableBody ? error : new Error("The request cannot be read")

/** Of a request for an answer, which says all in its address. */
const noBody: Body = { bytes: 0, keep: noMore, leave: noMore, text: () => "{}" }

/** Texts that are longer are not searched (characters). */
const maxSearched = 1024 * 1024

/** What a request to a model has: else it is not looked at, nor is its answer. */
const mayBeCall = (body: unknown): boolean =>
  typeof body === "string" &&
  body.length <= maxSearched &&
  body.startsWith("{") &&
  /"(?:model|messages|contents)"/.test(body)

/** Undefined where it is no model call. Throws an `UnreadableBody` where the body is a stream or a form. */
export const capture = (method: string, input: Input, init: Init, url: URL): Captured | undefined => {
  // By its path. Whether the body is one of a call is looked at when the call is over.
  const kind = kindOf(method, url, () => mayBeCall(init?.body))
  if (kind === undefined) return undefined
  const request = isRequest(input) ? input : undefined
  const [sentInit, headers] = RequestHeaders.read(request, init)
  const given = init?.body
  const read = () =>
    given === undefined || given === null
      ? request && bodyOfRequest(request)
      : bodyOf(given as NonNullable<typeof given>)
  const body = kind === "end" ? noBody : read()
  if (body === undefined) {
    if (given === undefined || given === null) return undefined
    throw new UnreadableBody("The body of the request is a stream or a form")
  }
  const apiOf = (inputs?: Record<string, unknown>, answer?: string) => {
    const beta = RequestHeaders.valueOf(headers(), "anthropic-beta")
    const api = recognise(url, inputs, beta)
    return api ?? (answer === undefined ? null : recogniseByAnswer(url, inputs, answersIn(answer), beta))
  }
  const secrets = (inputs: string) => secretsOf({ headers: headers(), addresses: [url] }, inputs)
  const said = () => saidBy((name) => RequestHeaders.valueOf(headers(), name))
  return { init: sentInit, request: { kind, asked: askedOf(method, url), apiOf, url, ...body, secrets, said } }
}
