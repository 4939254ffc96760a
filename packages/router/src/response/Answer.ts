/** What a request is answered: status, headers and body. It can be cloned, so that it can cross to another thread. */
import type { ErrorDetail } from "@tachograph/api"
import { freeMemory } from "@tachograph/core"
import type { BodyStream } from "./BodyStream.ts"

/** Which error an answer is. Known where the error is made, so that nothing parses an answer to learn it. */
interface Refusal {
  /** The error's `type` on the wire; `validation-error` for the error that has a `detail` instead. */
  readonly type: string
  readonly detail?: ReadonlyArray<ErrorDetail> | undefined
  /** Whether the engine's thread died while it had the request, maybe because of it. */
  readonly isOfDeath?: boolean
}

export interface Answer {
  readonly status: number
  /** Names in lower case. */
  readonly headers: Readonly<Record<string, string>>
  /** Empty where there is a `stream`. */
  readonly body: Body
  /** The body of an answer that is made while its client takes it. Crosses to another thread apart from the answer. */
  readonly stream?: BodyStream | undefined
  /** Whether the body is the same bytes for every request, so that an answer takes no memory of its own. */
  readonly isShared?: boolean
  readonly refusal?: Refusal | undefined
}

/** A text, or the parts of one in UTF-8. Texts of an event are parts, so that they are not copied. */
export type Body = string | ReadonlyArray<Uint8Array>

export const byteLength = (body: Body): number =>
  typeof body === "string" ? Buffer.byteLength(body) : body.reduce((sum, { length }) => sum + length, 0)

/** The body in one. */
export const whole = (body: Body): string | Uint8Array => {
  if (typeof body === "string") return body
  return body.length === 1 ? body[0]! : Buffer.concat(body)
}

/** Frees the body of an answer that is written, or will not be. Views of it are empty afterwards. */
export const free = ({ body, isShared, stream }: Answer): void => {
  stream?.cancel()
  if (typeof body === "string" || isShared === true) return
  for (const part of body) freeMemory(part)
}

const jsonHeaders = { "content-type": "application/json" } as const

/** A JSON text. */
export const json = (body: Body, headers: Readonly<Record<string, string>> = {}): Answer => ({
  status: 200,
  headers: { ...jsonHeaders, ...headers },
  body
})

export const text = (body: string, contentType: string): Answer => ({
  status: 200,
  headers: { "content-type": contentType },
  body
})

/** An answer that is made while its client takes it. */
export const streamed = (
  stream: BodyStream,
  contentType: string,
  headers: Readonly<Record<string, string>> = {}
): Answer => ({ status: 200, headers: { "content-type": contentType, ...headers }, body: "", stream })

/** The answer to every request, as shared bytes. */
export const shared = (answer: Answer): Answer => ({
  ...answer,
  body: [Buffer.from(whole(answer.body))],
  isShared: true
})

/** No body. */
export const empty = (headers: Readonly<Record<string, string>> = {}): Answer => ({ status: 204, headers, body: "" })

/** Closes the connection: what follows on it may be the rest of the request. */
export const closing = (answer: Answer): Answer => ({ ...answer, headers: { ...answer.headers, connection: "close" } })

/** An error without a class of its own: one that is no part of the contract, such as `not-found`. */
export const refuse = (
  status: number,
  type: string,
  headers: Readonly<Record<string, string>> = {},
  fields: Readonly<Record<string, unknown>> = {}
): Answer => ({
  status,
  headers: { ...jsonHeaders, ...headers },
  body: JSON.stringify({ type, ...fields }),
  refusal: { type }
})
