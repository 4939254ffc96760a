/** Logs why the storage is unavailable. A client learns only that it is. */
import * as Cause from "effect/Cause"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"

const maxCauses = 8

/** What an error and its causes say, each thing once: a driver, a statement and a storage wrap the same one. */
const reasonOf = (cause: unknown): string => {
  const messages: Array<string> = []
  let error = cause
  for (let depth = 0; depth < maxCauses && error instanceof Error; depth++) {
    const { cause, message, reason }: Error & { readonly reason?: unknown } = error
    if (!messages.some((before) => before.includes(message))) messages.push(message)
    error = reason ?? cause
  }
  return messages.length === 0 ? String(cause) : messages.join(": ")
}

/** During an outage every request fails for the same reason: at most one line in this time (ms). */
const intervalMs = 1_000

/** A log with a limit of its own: the front and the engine each have one. */
export const make = (): ((cause: unknown) => Effect.Effect<void>) => {
  let loggedAtMs = Number.NEGATIVE_INFINITY
  let suppressed = 0
  return (cause) =>
    Effect.flatMap(Clock.currentTimeMillis, (now) => {
      // A clock that was set back must not silence the log.
      if (now >= loggedAtMs && now - loggedAtMs < intervalMs) {
        suppressed++
        return Effect.void
      }
      const failures_not_logged = suppressed
      loggedAtMs = now
      suppressed = 0
      return Effect.annotateLogs(Effect.logWarning("The storage is unavailable", Cause.fail(reasonOf(cause))), {
        failures_not_logged
      })
    })
}
