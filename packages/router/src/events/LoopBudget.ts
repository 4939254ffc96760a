/**
 * Limits how much synchronous work is done in one turn of the event loop. `node:http` accepts one connection a turn, so that
 * a hundred large bodies decoded in one turn would make new connections wait for all of them.
 */
import type { Steps } from "@tachograph/core"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"

/** Milliseconds of a turn in which work is started. */
const sliceMs = 2

/** Milliseconds after which work is long. What is shorter is done in its order: if all took turns, all would be done as late as the last. */
const longMs = 4 * sliceMs

interface Work {
  /** Does a step, and returns whether it was the last. */
  readonly step: () => boolean
  /** Milliseconds of all its steps. */
  spentMs: number
}

export class LoopBudget {
  readonly #waiting: Array<Work> = []
  /** Milliseconds of this turn. */
  #spentMs = 0
  #isNextTurnScheduled = false

  /** Does the first step now, or in the first turn that has time for it. Long work takes turns. */
  runSteps<A>(steps: Steps.Steps<A>): Effect.Effect<A> {
    return Effect.callback((resume) => {
      // Evaluated here, and not when the fiber resumes, so that the time counts for this turn.
      const step = () => {
        const exit = Effect.runSyncExit(Effect.sync(() => steps.next()))
        if (Exit.isSuccess(exit) && exit.value.done !== true) return false
        resume(Exit.map(exit, ({ value }) => value as A))
        return true
      }
      this.#waiting.push({ step, spentMs: 0 })
      this.#work()
    })
  }

  #work(): void {
    while (this.#spentMs < sliceMs && this.#waiting.length > 0) {
      const startedMs = performance.now()
      const work = this.#waiting.shift()!
      const isDone = work.step()
      const stepMs = performance.now() - startedMs
      this.#spentMs += stepMs
      work.spentMs += stepMs
      if (isDone) continue
      if (work.spentMs < longMs) this.#waiting.unshift(work)
      else this.#waiting.push(work)
    }
    if (this.#isNextTurnScheduled) return
    this.#isNextTurnScheduled = true
    setImmediate(() => {
      this.#isNextTurnScheduled = false
      this.#spentMs = 0
      if (this.#waiting.length > 0) this.#work()
    })
  }
}

/** The one of this thread, whose event loop all work shares. */
export const loopBudget = new LoopBudget()
