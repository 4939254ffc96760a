/**
 * Bodies that a parser of the host's, such as `express.json()`, has read before us: taken from where the host left them. As
 * they were sent, where it kept the bytes in `rawBody`; written anew from the parsed value where it did not.
 */
import { Effect } from "effect"
import type { HttpServerRequest } from "effect/http"
import { IncomingMessage } from "node:http"

interface Left {
  /** By convention the bytes, or the text, as they were before parsing: `express.json({ verify })` can keep them. */
  readonly rawBody?: unknown
  /** What the parser made of them. */
  readonly body?: unknown
}

export interface HostBody {
  readonly bytes: Buffer
  /** False where the bytes are not those that were sent. */
  readonly exact: boolean
}

const asSent = (left: unknown): Buffer | undefined =>
  typeof left === "string"
    ? Buffer.from(left)
    : left instanceof Uint8Array
      ? Buffer.from(left.buffer, left.byteOffset, left.byteLength)
      : undefined

const written = (value: unknown): Buffer => {
  try {
    return Buffer.from(JSON.stringify(value) ?? "")
  } catch {
    // No JSON can be made of it, and so none was sent.
    return Buffer.alloc(0)
  }
}

/** Undefined where nobody has read the body: it is still to be read. */
export const find = ({ source }: HttpServerRequest.HttpServerRequest): HostBody | undefined => {
  if (!(source instanceof IncomingMessage) || !(source.readableDidRead || source.readableEnded)) return undefined
  const { body, rawBody } = source as Left
  const sent = asSent(rawBody) ?? asSent(body)
  // In a text, bytes that are no UTF-8 have become this.
  if (sent !== undefined) return { bytes: sent, exact: typeof body !== "string" || !body.includes("\ufffd") }
  // Parsers make `{}` of nothing.
  if (source.headers["content-length"] === "0") return { bytes: Buffer.alloc(0), exact: true }
  return { bytes: written(body), exact: false }
}

let isWarned = false

const warning =
  "A body was read before Tachograph saw it, and without its bytes it is taken from what a parser left: spacing, numbers " +
  "beyond doubles and repeated keys are lost. Mount Tachograph before the parser, or keep the bytes in request.rawBody."

/** Said once: it is a fault of the host's, and every request would say it. */
export const warn = Effect.suspend(() => {
  if (isWarned) return Effect.void
  isWarned = true
  return Effect.logWarning(warning)
})
