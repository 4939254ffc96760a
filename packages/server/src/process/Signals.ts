/** What the signals mean that end the process. */

/**
 * One press of a key can come as several signals: a terminal and a supervisor send theirs to every process of a group, and npm
 * passes on its own. Within this time of the first they are one (ms).
 */
const sameForMs = 1_000

/** The first signal is the command's, which shuts down gracefully. Calls `endNow` when there is another. */
export const watch = (endNow: () => void): void => {
  let firstAtMs: number | undefined
  for (const signal of ["SIGINT", "SIGTERM"] as const) {
    process.on(signal, () => {
      firstAtMs ??= performance.now()
      if (performance.now() - firstAtMs > sameForMs) endNow()
    })
  }
}
