/** Reads the body of a request of `node:http` to its end, whatever a host has done to its stream. */
import { PayloadTooLargeError } from "@tachograph/api"
import { Errors } from "@tachograph/core"
import { Effect } from "effect"
import { IncomingMessage } from "node:http"
import * as RequestState from "./RequestState.ts"

/** Whether a host has paused it, or asked for its text: others who read streams do not expect that. */
export const isTouched = (source: object): source is IncomingMessage =>
  source instanceof IncomingMessage && (source.readableEncoding !== null || source.isPaused())

/** Whether we may read it. A client that waits to be told to go on is told so by others who read streams. */
export const isOurs = (source: object): source is IncomingMessage =>
  source instanceof IncomingMessage && (source.headers.expect === undefined || isTouched(source))

/** At most so many bytes, and as many as there is room for. To a client that goes before it has sent all there is nobody to answer: it is interrupted. */
export const collect = (
  message: IncomingMessage,
  maxBytes: number
): Effect.Effect<Buffer, PayloadTooLargeError | Errors.Overloaded> =>
  Effect.callback((resume) => {
    if (message.destroyed) return resume(Effect.interrupt)
    const place = RequestState.of(message)
    const chunks: Array<Buffer> = []
    let size = 0
    const refuse = (error: PayloadTooLargeError | Errors.Overloaded) => {
      message.off("data", add)
      message.pause()
      resume(Effect.fail(error))
    }
    const add = (chunk: Buffer | string) => {
      // A host may have asked for text.
      const bytes = typeof chunk === "string" ? Buffer.from(chunk, message.readableEncoding!) : chunk
      size += bytes.length
      if (size > maxBytes) return refuse(new PayloadTooLargeError())
      if (place?.reserve(bytes.length) === false) return refuse(new Errors.Overloaded())
      chunks.push(bytes)
    }
    message.on("data", add)
    // Each of these comes once, and what is resumed already stays so.
    message.on("end", () => resume(Effect.succeed(chunks.length === 1 ? chunks[0]! : Buffer.concat(chunks, size))))
    message.on("close", () => resume(Effect.interrupt))
    // One that was paused stays so, for whoever listens.
    message.resume()
  })
