/** Pauses between the steps of work in the background, so that recording keeps most of the time. */
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"

/** Runs a step, and may wait before or after it. */
export type Throttle = <A, E>(step: Effect.Effect<A, E>) => Effect.Effect<A, E>

export const unthrottled: Throttle = (step) => step

const minPause = Duration.millis(5)

/** The pause after a step of this duration. */
const pauseAt = (rate: number, duration: Duration.Duration): Duration.Duration =>
  Duration.max(Duration.times(duration, 1 / rate - 1), minPause)

/** Works for this fraction of the time, above 0 and up to 1: each step is followed by a pause in proportion to its duration. */
export const atRate = (rate: number): Throttle =>
  rate >= 1
    ? unthrottled
    : (step) =>
        Effect.flatMap(Effect.timed(step), ([duration, value]) =>
          Effect.as(Effect.sleep(pauseAt(rate, duration)), value)
        )

/** The same at one of two rates below 1: `isBusy` is asked after the pause of the higher one. */
export const atRates =
  (rates: { readonly busy: number; readonly idle: number }, isBusy: () => boolean): Throttle =>
  (step) =>
    Effect.gen(function* () {
      const [duration, value] = yield* Effect.timed(step)
      const pause = pauseAt(rates.idle, duration)
      yield* Effect.sleep(pause)
      if (isBusy()) yield* Effect.sleep(Duration.subtract(pauseAt(rates.busy, duration), pause))
      return value
    })

/** What background work takes of the time by default. Recording has the other nine tenths. */
export const backgroundRate = 0.1
