/** Pauses between the steps of work in the background, so that recording keeps most of the time. */
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"

/** Runs a step, and may wait before or after it. */
export type Throttle = <A, E>(step: Effect.Effect<A, E>) => Effect.Effect<A, E>

export const unthrottled: Throttle = (step) => step

const minPause = Duration.millis(5)

/** Works for this fraction of the time, above 0 and up to 1: each step is followed by a pause in proportion to its duration. */
export const atRate = (rate: number): Throttle => {
  if (rate >= 1) return unthrottled
  const pausePerWork = 1 / rate - 1
  return (step) =>
    Effect.flatMap(Effect.timed(step), ([duration, value]) =>
      Effect.as(Effect.sleep(Duration.max(Duration.times(duration, pausePerWork), minPause)), value)
    )
}

/** What background work takes of the time by default. Recording has the other nine tenths. */
export const backgroundRate = 0.1
