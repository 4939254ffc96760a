/**
 * Erases what is older than it is to be kept, in the background and in all projects. However many processes share a storage,
 * one at a time does it; whoever records has nine tenths of the time.
 */
import { Clock, DateTime, Duration, Effect, Layer } from "effect"
import { randomUUID } from "node:crypto"
import { Eraser, nothing, type Throttle, plus } from "./Eraser.ts"
import { firstIdOf } from "../record/EventIds.ts"
import { Storage } from "../Storage.ts"

export interface RetentionOptions {
  /** How long events are kept from the time of their receipt, as it stands in their ids. */
  readonly keep: Duration.Input
}

/** A process that starts has other things to do first. */
const firstAfter = Duration.seconds(10)

/** From the end of one pass to the next: a part of what is kept, so that little outlives its time by much. */
const passesWhileKept = 24
const between = { minimum: Duration.minutes(1), maximum: Duration.hours(1) }
const afterFailure = Duration.minutes(1)

/** Whoever has not prolonged it for so long is gone, and another process may take over. */
const leaseName = "retention"
const leaseFor = Duration.minutes(1)
const prolongEvery = Duration.seconds(20)
/** Ending does not wait longer to give the lease up: it runs out by itself. */
const giveUpWithin = Duration.seconds(1)

const restPerWork = 9
const leastRest = Duration.millis(5)

/** After each step, nine times as long is left to others. */
const backgroundThrottle: Throttle = (step) =>
  Effect.flatMap(Effect.timed(step), ([took, value]) =>
    Effect.as(Effect.sleep(Duration.max(Duration.times(took, restPerWork), leastRest)), value)
  )

/** Runs until it is interrupted. */
const run = Effect.fnUntraced(function* (keep: Duration.Duration) {
  const storage = yield* Storage
  const eraser = yield* Eraser
  const holder = randomUUID()

  const takeLease = (duration: Duration.Duration) =>
    Effect.flatMap(DateTime.now, (now) => storage.takeLease(leaseName, holder, DateTime.addDuration(now, duration)))

  /** Prolongs the lease; ends when another process has it. */
  const holdLease = Effect.gen(function* () {
    do yield* Effect.sleep(prolongEvery)
    while (yield* takeLease(leaseFor))
  })

  const giveUpLease = Effect.ignore(Effect.timeout(takeLease(Duration.zero), giveUpWithin))

  const erase = Effect.gen(function* () {
    const now = yield* Clock.currentTimeMillis
    const before = firstIdOf(Math.max(0, now - Duration.toMillis(keep)))
    let receipt = nothing
    yield* Effect.forEach(
      yield* storage.listProjects,
      (project) =>
        Effect.map(eraser.eraseOlder(project, before, backgroundThrottle), (erased) => {
          receipt = plus(receipt, erased)
        }),
      { discard: true }
    ).pipe(
      Effect.andThen(
        Effect.suspend(() => (receipt.events + receipt.pieces === 0 ? Effect.void : backgroundThrottle(eraser.scrub)))
      ),
      Effect.ensuring(
        Effect.suspend(() =>
          receipt.events + receipt.sessions + receipt.pieces === 0
            ? Effect.void
            : Effect.annotateLogs(Effect.logInfo("Erased what was older than it is kept"), { ...receipt })
        )
      )
    )
  })

  const pass = Effect.acquireUseRelease(
    takeLease(leaseFor),
    (isTaken) => (isTaken ? Effect.raceFirst(erase, holdLease) : Effect.void),
    (isTaken) => (isTaken ? giveUpLease : Effect.void)
  ).pipe(Effect.withSpan("Retention.pass"))

  const pause = Duration.clamp(Duration.divideUnsafe(keep, passesWhileKept), between)
  return yield* pass.pipe(
    Effect.as(pause),
    Effect.catchCause((cause) =>
      Effect.as(
        Effect.logWarning("Erasing what is older than it is kept failed; it is tried again", cause),
        afterFailure
      )
    ),
    Effect.flatMap(Effect.sleep),
    Effect.forever,
    Effect.delay(firstAfter)
  )
})

/** Goes on until the layer's scope is closed. */
export const layer = ({ keep }: RetentionOptions): Layer.Layer<never, never, Storage> =>
  Layer.effectDiscard(Effect.forkScoped(run(Duration.fromInputUnsafe(keep)))).pipe(Layer.provide(Eraser.layer))
