/** The body of Create Event for a call that passed the proxy, made of the copies of its bodies. */
import { PayloadTooLargeError } from "@tachograph/api"
import { type Asked, BegunCalls } from "@tachograph/capture/Endings"
import { Errors, Steps } from "@tachograph/core"
import * as Effect from "effect/Effect"
import * as Semaphore from "effect/Semaphore"
import * as CallEvent from "../calls/CallEvent.ts"
import * as Decompression from "../calls/Decompression.ts"
import type { Begun } from "../calls/EventOfCall.ts"
import type { PassedCall } from "../calls/PassedCall.ts"
import { ReserveAnswer } from "../Engine.ts"
import { loopBudget } from "./LoopBudget.ts"

/** How many calls are decompressed at once: only when that is done it is known how much memory they take. */
const maxDecompressing = 2

/** The bodies as they passed. */
type CopiedBodies = Record<"inputs" | "output", Buffer>

/** Makes the bodies of one instance. `largeBytes` says from which length on it shares turns of the event loop. */
export const make = (largeBytes: number) => {
  const decompressing = Semaphore.makeUnsafe(maxDecompressing)
  const begun: Begun["calls"] = new BegunCalls()

  const decompress = async (call: PassedCall, { inputs, output }: CopiedBodies, maxBytes: number) => {
    const request = await Decompression.decompress(inputs, call.requestEncoding ?? "", maxBytes)
    if (request === "too-large") return "too-large"
    const answer = await Decompression.decompress(output, call.responseEncoding ?? "", maxBytes)
    if (answer === "too-large") return "too-large"
    return {
      // A parser of the host may have decompressed it.
      inputs: request === "undecodable" ? inputs : request,
      output: answer === "undecodable" ? undefined : answer
    } satisfies CallEvent.Bodies
  }

  const bodyOf = Effect.fnUntraced(function* (project: string, call: PassedCall, copies: Buffer, maxBytes: number) {
    const inputs = copies.subarray(0, call.requestBytes)
    const output = copies.subarray(call.requestBytes)
    const isPlain = call.requestEncoding === undefined && call.responseEncoding === undefined
    const makeOf = (bodies: CallEvent.Bodies): Effect.Effect<CallEvent.Made> => {
      const steps = CallEvent.make(call, bodies, { calls: begun, scope: project })
      const isLarge = bodies.inputs.length + (bodies.output?.length ?? 0) >= largeBytes
      return isLarge ? loopBudget.runSteps(steps) : Effect.sync(() => Steps.run(steps))
    }
    const made: CallEvent.Made = isPlain
      ? yield* makeOf({ inputs, output })
      : yield* Effect.promise(() => decompress(call, { inputs, output }, maxBytes)).pipe(
          Effect.flatMap((bodies) => (bodies === "too-large" ? new PayloadTooLargeError() : makeOf(bodies))),
          decompressing.withPermits(1)
        )
    if (typeof made === "string") return made
    if (made.body.length > maxBytes) return yield* new PayloadTooLargeError()
    const added = made.body.length - copies.length
    if (added > 0 && !isPlain && !(yield* (yield* ReserveAnswer)(added))) return yield* new Errors.Overloaded()
    return made
  })

  return {
    bodyOf,
    /** The event that has the end of a call is recorded. */
    ended: (project: string, asked: Asked): void => begun.end(project, asked)
  }
}
