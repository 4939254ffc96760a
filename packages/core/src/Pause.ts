/** A pause of what works in the background. */
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"

/** Unlike `Effect.sleep` it does not keep a process running that has nothing else to do. */
export const pause = (duration: Duration.Duration): Effect.Effect<void> =>
  Effect.callback((resume) => {
    const timer = setTimeout(() => resume(Effect.void), Duration.toMillis(duration)).unref()
    return Effect.sync(() => clearTimeout(timer))
  })
