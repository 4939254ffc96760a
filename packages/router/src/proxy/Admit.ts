/** Asks whether the sender of a request may use the proxy. */
import { InFlightSet, type Principal } from "@tachograph/core"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import { randomUUID } from "node:crypto"
import { Authorizer } from "../front/Authorizer.ts"
import type { Answer } from "../response/Answer.ts"
import * as ErrorAnswer from "../response/ErrorAnswer.ts"
import * as Gate from "./Gate.ts"

/**
 * Calls back with the principal, or with why there is none, and the id of the request that the log may have; undefined if the scope is
 * closed first.
 */
export type Admit = (
  visitor: Gate.Visitor,
  resume: (result: Principal | Answer | undefined, id?: string) => void
) => void

export const make = Effect.fnUntraced(function* (isOpen: boolean) {
  const judge = Gate.make(yield* Authorizer, isOpen)
  const answerErrors = ErrorAnswer.make()
  const run = Effect.runForkWith(yield* Effect.context<never>())
  const fibers = new InFlightSet<Fiber.Fiber<unknown>>()
  yield* Effect.addFinalizer(() => Fiber.interruptAll(fibers.values()))
  const admit: Admit = (visitor, resume) => {
    const judged = judge(visitor)
    if (!Effect.isEffect(judged)) return resume(judged)
    const id = randomUUID()
    const fiber = run(Effect.annotateLogs(answerErrors(judged, id), "request_id", id))
    const remove = fibers.add(fiber)
    fiber.addObserver((exit) => {
      remove()
      resume(exit._tag === "Success" ? exit.value : undefined, id)
    })
  }
  return admit
})
