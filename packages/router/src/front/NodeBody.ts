/** Reads the body of a request of `node:http` to its end, whatever the host has done to its stream. */
import * as Effect from "effect/Effect"
import type { IncomingMessage } from "node:http"
import type { BodyCollector, BodyRefused } from "./BodyCollector.ts"

/** Whether the host has paused the stream or set its encoding: pipes do not resume such a stream, and would get text. */
export const isTouched = (message: IncomingMessage): boolean => message.readableEncoding !== null || message.isPaused()

/** Interrupts the fiber if the client disconnects before the end: no answer can reach it. */
export const collect = (message: IncomingMessage, collector: BodyCollector): Effect.Effect<void, BodyRefused> =>
  Effect.callback((resume) => {
    if (message.destroyed) return resume(Effect.interrupt)
    const add = (chunk: Buffer | string) => {
      const bytes = typeof chunk === "string" ? Buffer.from(chunk, message.readableEncoding!) : chunk
      const refused = collector.add(bytes)
      if (refused === undefined) return
      // Without a listener the rest is discarded, as Node does with a body that is not read: the connection stays usable.
      // Any listener would hold what was collected for as long as the client sends.
      stop()
      resume(Effect.fail(refused))
    }
    const end = () => resume(Effect.void)
    const close = () => resume(Effect.interrupt)
    const stop = () => message.off("data", add).off("end", end).off("close", close)
    message.on("data", add)
    // Only the first of these counts: a fiber resumes once.
    message.on("end", end)
    message.on("close", close)
    // A listener for `data` does not resume a stream that was paused explicitly.
    message.resume()
    // Runs if the fiber is interrupted, for example by a timeout of the host.
    return Effect.sync(stop)
  })
