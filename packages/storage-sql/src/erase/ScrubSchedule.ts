/** Scrubs in the background some time after an erasure, so that one scrub serves all erasures of that time. */
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Latch from "effect/Latch"
import type * as Scope from "effect/Scope"
import type { SqlError } from "effect/sql"
import type { Errors } from "@tachograph/core"

/** Removes what was erased from the database's files. */
export interface Scrub {
  /** Runs in every transaction that erases something: records that a scrub is due, so that a crash does not lose it. */
  readonly request: Effect.Effect<void, SqlError.SqlError>
  /** Whether a scrub is due. */
  readonly isDue: Effect.Effect<boolean, SqlError.SqlError>
  /** Scrubs, if it is due. Stops after `maxMs` milliseconds; what is left then is still due. */
  readonly run: (maxMs: number) => Effect.Effect<void, SqlError.SqlError>
}

/** From the first erasure to the scrub. */
const delay = Duration.seconds(1)
/** The pause after a scrub is this many times as long as the scrub: scrubs take at most a fifth of the time. */
const pausePerScrub = 4
/** The pause after a failure, which doubles with each failure. */
const retryLimits = { minimum: Duration.seconds(5), maximum: Duration.minutes(5) }
/** How long closing the storage waits for the scrub of what was erased shortly before (ms). */
const closeMaxMs = 5_000

/**
 * Runs until the scope is closed. First scrubs what an earlier process has left. Returns the effect to run in every transaction
 * that erases something.
 */
export const make = Effect.fnUntraced(function* (
  { isDue, request }: Scrub,
  run: (maxMs: number) => Effect.Effect<void, Errors.StorageUnavailable>
): Effect.fn.Return<Effect.Effect<void, SqlError.SqlError>, never, Scope.Scope> {
  /** Open if something was erased since the last scrub began. */
  const requested = yield* Latch.make()
  /** Whether something is not scrubbed yet that this process has erased, or an earlier one. */
  let isPending = yield* Effect.orElseSucceed(isDue, () => false)
  yield* Effect.addFinalizer(() =>
    Effect.catchCause(
      Effect.suspend(() => (isPending ? run(closeMaxMs) : Effect.void)),
      (cause) => Effect.logWarning("Erased data remains in the database files until the storage is opened again", cause)
    )
  )

  const scrub = Effect.suspend(() => {
    const wasPending = isPending
    isPending = false
    requested.closeUnsafe()
    return Effect.onError(run(Number.POSITIVE_INFINITY), () => {
      isPending ||= wasPending
      return Effect.void
    })
  })

  const untilDone = Effect.gen(function* () {
    for (let pause = retryLimits.minimum; ; pause = Duration.min(Duration.times(pause, 2), retryLimits.maximum)) {
      const [duration, isDone] = yield* Effect.timed(
        Effect.catchCause(Effect.as(scrub, true), (cause) =>
          Effect.as(
            Effect.logWarning("Removing erased data from the database files failed and will be retried", cause),
            false
          )
        )
      )
      if (isDone) return yield* Effect.sleep(Duration.times(duration, pausePerScrub))
      yield* Effect.sleep(pause)
    }
  })

  yield* Effect.forkScoped(
    Effect.gen(function* () {
      for (;;) {
        yield* Effect.sleep(delay)
        yield* untilDone
        yield* requested.await
      }
    })
  )

  return Effect.tap(request, () =>
    Effect.sync(() => {
      isPending = true
      requested.openUnsafe()
    })
  )
})
