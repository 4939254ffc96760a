/**
 * Work that is done in one go, a little of it in every turn of the event loop: of those who want to connect, one is let in
 * with each turn, and a hundred large bodies that have come together would keep them all waiting.
 */
import { Effect } from "effect"

/** Milliseconds of a turn in which work is begun. */
const sliceMs = 2

const waiting: Array<() => void> = []
/** In this turn, in milliseconds. */
let spent = 0
let isAnnounced = false

const work = (): void => {
  while (spent < sliceMs && waiting.length > 0) {
    const began = performance.now()
    waiting.shift()!()
    spent += performance.now() - began
  }
  if (isAnnounced) return
  isAnnounced = true
  setImmediate(() => {
    isAnnounced = false
    spent = 0
    if (waiting.length > 0) work()
  })
}

/** Evaluates now, or in the first turn that has time for it; in the order in which it was asked for. */
export const runInSlice = <A>(evaluate: () => A): Effect.Effect<A> =>
  Effect.callback((resume) => {
    // Here and not when the fiber goes on, so that it is this turn's time.
    waiting.push(() => resume(Effect.runSyncExit(Effect.sync(evaluate))))
    work()
  })
