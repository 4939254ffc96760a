/**
 * Erases expired events of all projects in the background. A lease ensures that only one of the processes that share a
 * storage does it at a time, and throttling leaves nine tenths of the time to recording.
 */
import * as Clock from "effect/Clock"
import * as Context from "effect/Context"
import * as DateTime from "effect/DateTime"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { randomUUID } from "node:crypto"
import * as Audit from "../audit/Audit.ts"
import * as AuditedErasures from "./AuditedErasures.ts"
import { CurrentActor } from "../domain/AuditEntry.ts"
import { Eraser } from "./Eraser.ts"
import { addReceipts, emptyReceipt } from "./Receipts.ts"
import { firstIdOf } from "../domain/EventTime.ts"
import { Storage } from "../Storage.ts"
import { atRate, backgroundRate } from "../Throttle.ts"

export interface RetentionOptions {
  /** How long events are kept, counted from the time of receipt in their ids. */
  readonly keep: Duration.Input
}

/** How long this process keeps events. Undefined where it erases none of them by their age. */
export const KeptFor = Context.Reference<Duration.Duration | undefined>("tachograph/core/KeptFor", {
  defaultValue: () => undefined
})

/** Delay of the first pass, to leave the startup of the process alone. */
const initialDelay = Duration.seconds(10)

/** The pause between passes is this fraction of the retention period, within limits: an event outlives it by little. */
const passesPerPeriod = 24
const pauseLimits = { minimum: Duration.minutes(1), maximum: Duration.hours(1) }
const pauseAfterFailure = Duration.minutes(1)

const leaseName = "retention"
/** A process that does not renew its lease for this long has stopped, and another one may take over. */
const leaseDuration = Duration.minutes(1)
const renewEvery = Duration.seconds(20)
/** Shutdown does not wait longer than this to release the lease, because it expires by itself. */
const releaseTimeout = Duration.seconds(1)

/** Leaves recording nine tenths of the time. */
const backgroundThrottle = atRate(backgroundRate)

/** Runs until interrupted. */
const run = Effect.fnUntraced(function* (keep: Duration.Duration) {
  const storage = yield* Storage
  const eraser = yield* Eraser
  const holder = randomUUID()

  const takeLease = (duration: Duration.Duration) =>
    Effect.flatMap(DateTime.now, (now) => storage.takeLease(leaseName, holder, DateTime.addDuration(now, duration)))

  /** Renews the lease, and returns when another process has taken it. */
  const holdLease = Effect.gen(function* () {
    do yield* Effect.sleep(renewEvery)
    while (yield* takeLease(leaseDuration))
  })

  const releaseLease = Effect.ignore(Effect.timeout(takeLease(Duration.zero), releaseTimeout))

  const erase = Effect.gen(function* () {
    const now = yield* Clock.currentTimeMillis
    const before = firstIdOf(Math.max(0, now - Duration.toMillis(keep)))
    let receipt = emptyReceipt
    yield* Effect.forEach(
      yield* storage.listProjects,
      (project) =>
        Effect.gen(function* () {
          const erased = yield* eraser.eraseOlder(project, before, backgroundThrottle)
          receipt = addReceipts(receipt, erased)
          if (erased.events > 0) {
            yield* AuditedErasures.complete(storage, project, yield* Audit.entry("retention", null, erased.events))
          }
        }),
      { discard: true }
    ).pipe(
      Effect.provideService(CurrentActor, "retention"),
      Effect.ensuring(
        Effect.suspend(() =>
          receipt.events + receipt.sessions + receipt.pieces === 0
            ? Effect.void
            : Effect.annotateLogs(Effect.logInfo("Erased events older than the retention period"), { ...receipt })
        )
      )
    )
  })

  const pass = Effect.acquireUseRelease(
    takeLease(leaseDuration),
    (isTaken) => (isTaken ? Effect.raceFirst(erase, holdLease) : Effect.void),
    (isTaken) => (isTaken ? releaseLease : Effect.void)
  ).pipe(Effect.withSpan("Retention.pass"))

  const pause = Duration.clamp(Duration.divideUnsafe(keep, passesPerPeriod), pauseLimits)
  return yield* pass.pipe(
    Effect.as(pause),
    Effect.catchCause((cause) =>
      Effect.as(
        Effect.logWarning("Erasing events older than the retention period failed and will be retried", cause),
        pauseAfterFailure
      )
    ),
    Effect.flatMap(Effect.sleep),
    Effect.forever,
    Effect.delay(initialDelay)
  )
})

/** Runs until the layer's scope is closed. Provides `KeptFor`. */
export const layer = ({ keep }: RetentionOptions): Layer.Layer<never, never, Storage> => {
  const duration = Duration.fromInputUnsafe(keep)
  return Layer.effectDiscard(Effect.forkScoped(run(duration))).pipe(
    Layer.provide(Eraser.layer),
    Layer.merge(Layer.succeed(KeptFor, duration))
  )
}
