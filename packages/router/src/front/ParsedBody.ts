/**
 * Bodies that a parser of the host, such as `express.json()`, has read before the mount. The bytes as sent are taken from
 * `rawBody` or from a text or a buffer in `body`; if only a parsed value is left, it is written as JSON again.
 */
import * as Effect from "effect/Effect"
import type { IncomingMessage } from "node:http"

interface HostRequest {
  /** By convention the bytes or the text before parsing; `express.json({ verify })` can keep them. */
  readonly rawBody?: unknown
  /** The result of the parser. */
  readonly body?: unknown
}

export interface ParsedBody {
  readonly bytes: Buffer
  /** False if the bytes are not the bytes that were sent. */
  readonly exact: boolean
}

const asSent = (body: unknown): Buffer | undefined => {
  if (typeof body === "string") return Buffer.from(body)
  if (body instanceof Uint8Array) return Buffer.from(body.buffer, body.byteOffset, body.byteLength)
  return undefined
}

const rewritten = (value: unknown): Buffer => {
  try {
    return Buffer.from(JSON.stringify(value) ?? "")
  } catch {
    // A cycle or a BigInt is not the result of parsing JSON.
    return Buffer.alloc(0)
  }
}

/** Undefined if the body has not been read. */
export const find = (message: IncomingMessage): ParsedBody | undefined => {
  if (!message.readableDidRead && !message.readableEnded) return undefined
  const { body, rawBody } = message as HostRequest
  for (const kept of [rawBody, body]) {
    const bytes = asSent(kept)
    // In a text, U+FFFD stands for bytes that are not UTF-8.
    if (bytes !== undefined) return { bytes, exact: typeof kept !== "string" || !kept.includes("\ufffd") }
  }
  // Parsers return `{}` for an empty body.
  if (message.headers["content-length"] === "0") return { bytes: Buffer.alloc(0), exact: true }
  return { bytes: rewritten(body), exact: false }
}

const warning =
  "A host parsed a request body before Tachograph read it, and did not keep its bytes. The body is recorded as written " +
  "from the parsed value: spacing, numbers beyond doubles and repeated keys are lost. Mount Tachograph before the parser, " +
  "or keep the bytes in request.rawBody."

/** Warns once per instance: the host's configuration affects every request alike. */
export const makeWarning = (): Effect.Effect<void> => {
  let isLogged = false
  return Effect.suspend(() => {
    if (isLogged) return Effect.void
    isLogged = true
    return Effect.logWarning(warning)
  })
}
