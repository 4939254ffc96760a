/** What the signals mean that end the process. */
import * as Runtime from "effect/Runtime"

const signals = ["SIGINT", "SIGTERM"] as const

/**
 * One press of a key can come as several signals: a terminal and a supervisor send theirs to every process of a group, and npm
 * passes on its own. Within this time of the first they are one (ms).
 */
const sameForMs = 1_000

/** The first signal is the command's, which shuts down gracefully. Calls `endNow` when there is another. */
export const watch = (endNow: () => void): void => {
  let firstAtMs: number | undefined
  for (const signal of signals) {
    process.on(signal, () => {
      firstAtMs ??= performance.now()
      if (performance.now() - firstAtMs > sameForMs) endNow()
    })
  }
}

/** Runs the command. A signal interrupts it, and ends the process with the code of its teardown. */
export const runMain = Runtime.makeRunMain(({ fiber, teardown }) => {
  let interrupted = false
  const interrupt = () => {
    interrupted = true
    fiber.interruptUnsafe(fiber.id)
  }
  for (const signal of signals) process.on(signal, interrupt)
  fiber.addObserver((exit) => {
    for (const signal of signals) process.off(signal, interrupt)
    teardown(exit, (code) => {
      if (interrupted || code !== 0) process.exit(code)
    })
  })
})
