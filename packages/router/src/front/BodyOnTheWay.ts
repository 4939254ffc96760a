/** The body of a request as it comes, decompressed, in pieces. No more of it is read than is taken. */
import { PayloadTooLargeError, UnsupportedContentEncodingError } from "@tachograph/api"
import * as Effect from "effect/Effect"
import { IncomingMessage } from "node:http"
import { pipeline, Readable } from "node:stream"
import * as BodyStream from "../response/BodyStream.ts"
import * as ParsedBody from "./ParsedBody.ts"
import * as RequestBody from "./RequestBody.ts"

type Headers = Readonly<Record<string, string | undefined>>

/** A client that sends nothing of its body for so long is given up (ms). */
const idleMs = 60_000

/** A host may have decoded the stream. */
const bytesOf = (chunk: unknown, source: RequestBody.BodySource): Uint8Array => {
  if (chunk instanceof Uint8Array) return chunk
  const encoding = source instanceof IncomingMessage ? source.readableEncoding : null
  if (typeof chunk === "string" && encoding !== null) return Buffer.from(chunk, encoding)
  throw new TypeError("A chunk of the body is not bytes")
}

const chunks = async function* (
  source: RequestBody.BodySource,
  encodings: Parameters<typeof RequestBody.decompression>[0],
  maxBytes: number
): AsyncGenerator<Uint8Array, void> {
  const parsed = source instanceof IncomingMessage ? ParsedBody.find(source) : undefined
  const whole = parsed?.bytes ?? (source instanceof Uint8Array ? source : undefined)
  if (whole !== undefined && (encodings.length === 0 || parsed !== undefined)) return yield whole
  const sent = whole === undefined ? RequestBody.chunksOf(source as Exclude<typeof source, Uint8Array>) : [whole]
  if (encodings.length === 0) {
    for await (const chunk of sent) yield bytesOf(chunk, source)
    return
  }
  const { check, stages } = RequestBody.decompression(encodings, maxBytes)
  // What fails fails the last stage too, from which it is thrown.
  const decompressed = pipeline([Readable.from(sent), ...stages], () => {}) as unknown as Readable
  yield* decompressed as AsyncIterable<Uint8Array>
  check()
}

/** Rejects if it takes too long. */
const inTime = async <A>(work: Promise<A>): Promise<A> => {
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error("The client sends nothing more of its body")), idleMs)
    timer.unref()
  })
  return Promise.race([work, late]).finally(() => clearTimeout(timer))
}

/**
 * Fails if it is compressed in an unknown way, or announces more than `maxBytes`. Its pieces reject where the body is damaged or its client
 * goes, or where what is decompressed is longer; who takes the pieces counts them.
 */
export const open = (
  source: RequestBody.BodySource,
  headers: Headers,
  maxBytes: number
): Effect.Effect<BodyStream.BodyStream, PayloadTooLargeError | UnsupportedContentEncodingError> =>
  Effect.suspend((): ReturnType<typeof open> => {
    if (RequestBody.announcedBytes(headers) > maxBytes) return Effect.fail(new PayloadTooLargeError())
    const encodings = RequestBody.encodingsOf(headers)
    if (!RequestBody.isSupported(encodings)) return Effect.fail(new UnsupportedContentEncodingError())
    const iterator = chunks(source, encodings, maxBytes)
    // The rest is discarded, so that the connection stays usable.
    const end = () => void iterator.return().catch(() => {})
    return Effect.succeed(BodyStream.ofParts(() => inTime(iterator.next()), end))
  })
