/**
 * Looks whether the key of a long answer is still valid, so that nothing new is given 10 s after its revocation or expiry. The keys come
 * from the cache of all requests: however many answers a key has, the storage is asked once for each time that the cache keeps it.
 */
import { Events } from "@tachograph/api"
import * as Effect from "effect/Effect"
import type * as Redacted from "effect/Redacted"
import type { Answer } from "../response/Answer.ts"
import { Authorizer } from "./Authorizer.ts"
import type { RequestState } from "./RequestState.ts"
import type { TimedStream } from "./TimedStream.ts"

/** How often (ms). With the time that a key is cached, it leaves a second for the look-up. */
const everyMs = 1_000

export type KeyWatch = Effect.Success<typeof make>

export const make = Effect.gen(function* () {
  const { isOver } = yield* Authorizer
  const run = Effect.runForkWith(yield* Effect.context<never>())

  /** Whether the key of an answer that took long to make is over. */
  const isLate = ({ credential }: RequestState, sinceMs: number): Effect.Effect<boolean> =>
    credential === undefined || performance.now() - sinceMs < everyMs ? Effect.succeed(false) : isOver(credential)

  /** Calls `end` once the key is over. Returns a function that ends the watch. */
  const watchKey = (credential: Redacted.Redacted, end: () => void): (() => void) => {
    const timer = setInterval(() => run(Effect.map(isOver(credential), (over) => over && end())), everyMs).unref()
    return () => clearInterval(timer)
  }

  /**
   * Ends an answer that is made while it is taken: as a whole one where its lines have cursors to go on with, and otherwise cut. Returns
   * a function that ends the watch.
   */
  const watch = ({ credential }: RequestState, { headers }: Answer, live: TimedStream): (() => void) => {
    if (credential === undefined) return () => {}
    return watchKey(credential, headers[Events.cursorHeader] === undefined ? live.cancel : live.finish)
  }

  return { isLate, watch, watchKey }
})
