/**
 * Limits how much synchronous work is done in one turn of the event loop. `node:http` accepts one connection a turn, so that
 * a hundred large bodies decoded in one turn would make new connections wait for all of them.
 */
import { Effect } from "effect"

/** Milliseconds of a turn in which work is started. */
const sliceMs = 2

export class LoopBudget {
  readonly #waiting: Array<() => void> = []
  /** Milliseconds of this turn. */
  #spentMs = 0
  #isNextTurnScheduled = false

  /** Evaluates now, or in the first turn that has time for it, in the order of the calls. */
  runInSlice<A>(evaluate: () => A): Effect.Effect<A> {
    return Effect.callback((resume) => {
      // Evaluated here, and not when the fiber resumes, so that the time counts for this turn.
      this.#waiting.push(() => resume(Effect.runSyncExit(Effect.sync(evaluate))))
      this.#work()
    })
  }

  #work(): void {
    while (this.#spentMs < sliceMs && this.#waiting.length > 0) {
      const startedMs = performance.now()
      this.#waiting.shift()!()
      this.#spentMs += performance.now() - startedMs
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
