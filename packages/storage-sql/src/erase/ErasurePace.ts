/**
 * Leaves most of a single connection's time to recording while something is erased. Without it, every step of an erasure would
 * take a turn with every batch of events.
 */
import * as Clock from "effect/Clock"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Semaphore from "effect/Semaphore"

/** The pause between two steps is this many times as long as the first of them. */
const pausePerStep = 9

export interface ErasurePace {
  /** Notes that an append begins, or has ended. */
  readonly note: () => void
  /** Runs an append. */
  readonly append: <A, E, R>(effect: Effect.Effect<A, E, R>) => Effect.Effect<A, E, R>
  /** Runs a step of an erasure. Waits for a pause after the step before it if there were appends in between. */
  readonly erase: <A, E, R>(effect: Effect.Effect<A, E, R>) => Effect.Effect<A, E, R>
}

export const unlimited: ErasurePace = { note: () => {}, append: (effect) => effect, erase: (effect) => effect }

export const make = Effect.fnUntraced(function* (): Effect.fn.Return<ErasurePace> {
  const steps = yield* Semaphore.make(1)
  /** How many appends have begun or ended. */
  let appends = 0
  /** `appends` at the begin of the last step, and until when the next one waits if it has changed (ms). */
  let last = { appends: 0, pauseUntilMs: 0 }
  const note = () => {
    appends++
  }
  const noted = Effect.sync(note)

  return {
    note,
    append: (effect) => Effect.andThen(noted, Effect.ensuring(effect, noted)),
    erase: (effect) =>
      steps.withPermit(
        Effect.gen(function* () {
          const pauseMs = last.pauseUntilMs - (yield* Clock.currentTimeMillis)
          if (pauseMs > 0 && appends !== last.appends) yield* Effect.sleep(pauseMs)
          const atBegin = appends
          const [duration, exit] = yield* Effect.timed(Effect.exit(effect))
          const pause = pausePerStep * Duration.toMillis(duration)
          last = { appends: atBegin, pauseUntilMs: (yield* Clock.currentTimeMillis) + pause }
          return yield* exit
        })
      )
  }
})
