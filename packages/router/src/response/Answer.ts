/** What a request is answered: status, headers and bytes. It can be cloned, so that it can cross to another thread. */
import type { ErrorDetail } from "@tachograph/api"

/** Which error an answer is. Known where the error is made, so that nothing parses an answer to learn it. */
interface Refusal {
  /** The error's `type` on the wire; `validation-error` for the error that has a `detail` instead. */
  readonly type: string
  readonly detail?: ReadonlyArray<ErrorDetail> | undefined
}

export interface Answer {
  readonly status: number
  /** Names in lower case. */
  readonly headers: Readonly<Record<string, string>>
  readonly body: string | Uint8Array
  readonly refusal?: Refusal | undefined
}

const jsonHeaders = { "content-type": "application/json" } as const

/** A JSON text. */
export const json = (body: string | Uint8Array, headers: Readonly<Record<string, string>> = {}): Answer => ({
  status: 200,
  headers: { ...jsonHeaders, ...headers },
  body
})

export const text = (body: string, contentType: string): Answer => ({
  status: 200,
  headers: { "content-type": contentType },
  body
})

/** No body. */
export const empty = (headers: Readonly<Record<string, string>> = {}): Answer => ({ status: 204, headers, body: "" })

/** An error without a class of its own: one that is no part of the contract, such as `not-found`. */
export const refuse = (
  status: number,
  type: string,
  headers: Readonly<Record<string, string>> = {},
  fields: Readonly<Record<string, string>> = {}
): Answer => ({
  status,
  headers: { ...jsonHeaders, ...headers },
  body: JSON.stringify({ type, ...fields }),
  refusal: { type }
})
