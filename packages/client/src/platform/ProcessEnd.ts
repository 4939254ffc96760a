/** Waits for events when a process ends, without taking the end away from the application. */
import { processOf } from "./Builtins.ts"

/** Something that has work left. */
export interface Flushable {
  readonly isBusy: () => boolean
  readonly flush: () => Promise<unknown>
}

const signals = ["SIGTERM", "SIGINT"] as const

// One handler for all recorders of a process, which holds them weakly: a recorder that is forgotten can be collected.
const recorders = new Set<WeakRef<Flushable>>()
let isListening = false

const busy = (): ReadonlyArray<Flushable> =>
  [...recorders].flatMap((reference) => {
    const recorder = reference.deref()
    if (recorder === undefined) recorders.delete(reference)
    return recorder?.isBusy() === true ? [recorder] : []
  })

const flushAll = () => Promise.all(busy().map((recorder) => recorder.flush()))

const listen = (process: NodeJS.Process) => {
  // `beforeExit` comes again after the work that it causes. A flush that was in vain is not repeated.
  let hasFlushed = false
  process.on("beforeExit", () => {
    if (hasFlushed || busy().length === 0) return
    hasFlushed = true
    void flushAll()
  })
  for (const signal of signals) {
    let isEnding = false
    const end = () => {
      process.removeListener(signal, onSignal)
      process.kill(process.pid, signal)
    }
    const onSignal = () => {
      // The application handles the signal itself: it decides when the process ends.
      if (process.listenerCount(signal) > 1) return void flushAll()
      // A second signal does not wait.
      if (isEnding) return end()
      isEnding = true
      void flushAll().finally(end)
    }
    process.on(signal, onSignal)
  }
}

/** `recorder` is flushed before the process ends. */
export const flushAtEnd = (recorder: Flushable): void => {
  const process = processOf()
  if (typeof process?.on !== "function" || typeof process.kill !== "function") return
  recorders.add(new WeakRef(recorder))
  if (isListening) return
  isListening = true
  listen(process)
}
