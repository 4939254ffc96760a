/** The longest time of a timer. A longer one ends at once. */
const longestMs = 2 ** 31 - 1

/** A time that a timer can wait for. */
const bounded = (ms: number): number => Math.min(longestMs, ms)

/** A timer that keeps a process alive. Returns what stops it. */
export const holding = (ms: number, run: () => void): (() => void) => {
  const timer = setTimeout(run, bounded(ms))
  return () => clearTimeout(timer)
}

/** A timer that does not keep a process alive. Returns what stops it. */
export const after = (ms: number, run: () => void): (() => void) => {
  const timer = setTimeout(run, bounded(ms))
  const handle: unknown = timer
  if (typeof handle === "object" && handle !== null && "unref" in handle) (handle as { unref: () => void }).unref()
  return () => clearTimeout(timer)
}

/** Resolves in a later turn of the event loop, when the application has taken what it waits for. */
export const laterTurn = (): Promise<void> => new Promise((resolve) => setTimeout(resolve, 0))

/** Runs after what the application does next, sooner than `laterTurn` where the platform can. */
export const soon = (run: () => void): void => {
  if (typeof setImmediate === "function") setImmediate(run)
  else setTimeout(run, 0)
}
