/** What is kept of a request to a provider. The request itself is left as it is. */
import { type Api, recognise } from "@tachograph/formats"
import { secretsOf } from "../event/Secrets.ts"
import { isRequest } from "../platform/Web.ts"

type Input = Parameters<typeof fetch>[0]
type Init = Parameters<typeof fetch>[1]

export interface CapturedRequest {
  /** The format of the call, by its address and its body as JSON; null where it is none. */
  readonly apiOf: (inputs?: Record<string, unknown>) => Api | null
  readonly url: URL
  /** Bytes that are held by keeping it, at most. */
  readonly bytes: number
  /** The body as text, if it can be read. */
  readonly text: () => Promise<string | undefined> | string | undefined
  readonly secrets: ReadonlyArray<string>
}

/** The method and the address of a request; undefined where there is no address. */
export const targetOf = (input: Input, init: Init): { readonly method: string; readonly url: URL } | undefined => {
  const request = isRequest(input) ? input : undefined
  const method = init?.method ?? request?.method ?? "GET"
  try {
    return { method: method.toUpperCase(), url: new URL(request?.url ?? String(input)) }
  } catch {
    return undefined
  }
}

const decoder = new TextDecoder()

/** Base64 and escapes apart, a UTF-16 string takes at most two bytes a unit. */
const bytesOf = (text: string): number => text.length

type Body = Pick<CapturedRequest, "bytes" | "text">

/** Bodies of `init`. Texts are shared with the application, and bytes copied, because the application may use them again. */
const bodyOf = (body: NonNullable<NonNullable<Init>["body"]>): Body | undefined => {
  if (typeof body === "string") return { bytes: bytesOf(body), text: () => body }
  if (body instanceof ArrayBuffer || ArrayBuffer.isView(body)) {
    const text = decoder.decode(body)
    return { bytes: bytesOf(text), text: () => text }
  }
  if (body instanceof Blob) return { bytes: body.size, text: () => body.text().catch(() => undefined) }
  return undefined
}

/** The length that a request states, so that a body which is read later has its room already. */
const statedLength = (request: Request): number => Number(request.headers.get("content-length") ?? 0) || 0

const bodyOfRequest = (request: Request): Body | undefined => {
  if (request.body === null || request.bodyUsed) return undefined
  const copy = request.clone()
  // Read at once: otherwise both halves of the body would be held until the end of the call.
  const text = copy.text().catch(() => undefined)
  return { bytes: statedLength(request), text: () => text }
}

/** Undefined where it is no model call, or its body cannot be read without touching it, as that of a stream or a form. */
export const capture = (input: Input, init: Init, url: URL): CapturedRequest | undefined => {
  const request = isRequest(input) ? input : undefined
  const headers = new Headers(init?.headers ?? request?.headers)
  const betaHeader = headers.get("anthropic-beta")
  // By its path. Whether the body is one of a call is looked at when the call is over.
  if (recognise(url, undefined, betaHeader) === null) return undefined
  const given = init?.body
  const body =
    given === undefined || given === null
      ? request && bodyOfRequest(request)
      : bodyOf(given as NonNullable<typeof given>)
  if (body === undefined) return undefined
  return { apiOf: (inputs) => recognise(url, inputs, betaHeader), url, ...body, secrets: secretsOf(headers, url) }
}
