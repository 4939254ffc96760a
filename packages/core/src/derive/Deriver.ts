/**
 * Adds recorded events to what the storage keeps of them, in the background or before reads: a 200 does not wait for it, and reads
 * do not need it, but cost less for what it has done.
 */
import * as Context from "effect/Context"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import type { ProjectId } from "../domain/Project.ts"
import { GroupCommit } from "../record/GroupCommit.ts"
import { Storage } from "../Storage.ts"
import { pause } from "../Pause.ts"
import { atRates, type Throttle, unthrottled } from "../Throttle.ts"

/** Events that are added in one transaction. */
const eventsPerStep = 500

/** Events that are added before a read at most. The read takes the others from the events themselves. */
const eventsPerRead = 20_000

/** How often it looks for new events. */
const interval = Duration.seconds(1)
const pauseAfterFailure = Duration.seconds(30)

/** Whether a recorder derives in the background. Not where the storage is only read, or the process may be frozen. */
export const DeriveInBackground = Context.Reference<boolean>("tachograph/core/DeriveInBackground", {
  defaultValue: () => true
})

/** Whether reads derive before they read: where nothing runs between requests. */
export const DeriveBeforeReads = Context.Reference<boolean>("tachograph/core/DeriveBeforeReads", {
  defaultValue: () => false
})

/**
 * The part of the time that it takes while events are recorded, and otherwise. A step also waits for commits, which counts as its time:
 * recording keeps more than the rest.
 */
const rates = { busy: 0.2, idle: 0.5 }

/** A pass that has added so many events is behind, and no longer looks whether events are recorded: reads add up what it has left. */
const eventsAside = 10_000

/** Adds events of a project up to the watermark, or up to about `maxEvents`. Every transaction runs through `throttle`. */
export const derive = Effect.fnUntraced(function* (
  storage: Storage["Service"],
  project: ProjectId,
  throttle: Throttle,
  maxEvents = Number.POSITIVE_INFINITY
) {
  const upTo = yield* storage.watermark(project)
  for (let events = 0; ;) {
    const added = yield* throttle(storage.deriveEvents(project, upTo, eventsPerStep))
    events += added
    if (added < eventsPerStep || events >= maxEvents) return events
  }
})

/** What comes before a read of what events add up to, which needs none of it. */
export const beforeReads = Effect.map(
  DeriveBeforeReads,
  (isWanted) =>
    (storage: Storage["Service"], project: ProjectId): Effect.Effect<void> =>
      isWanted
        ? derive(storage, project, unthrottled, eventsPerRead).pipe(
            Effect.asVoid,
            Effect.catchCause((cause) => Effect.logWarning("Adding up what was recorded failed", cause))
          )
        : Effect.void
)

/** Runs until interrupted. */
const run = Effect.gen(function* () {
  const storage = yield* Storage
  const { isRecording } = yield* GroupCommit
  const deriveAside = (project: ProjectId) => {
    let steps = 0
    const isBusy = () => ++steps * eventsPerStep <= eventsAside && isRecording()
    return derive(storage, project, atRates(rates, isBusy))
  }
  const pass = Effect.flatMap(storage.listProjects, (projects) =>
    Effect.forEach(projects, (project) => deriveAside(project), { discard: true })
  )
  return yield* pass.pipe(
    Effect.as(interval),
    Effect.catchCause((cause) =>
      Effect.as(Effect.logWarning("Adding up what was recorded failed and will be retried", cause), pauseAfterFailure)
    ),
    Effect.flatMap(pause),
    Effect.forever,
    (passes) => Effect.andThen(pause(interval), passes)
  )
})

/** Runs until the layer's scope is closed. */
export const layer: Layer.Layer<never, never, Storage | GroupCommit> = Layer.effectDiscard(
  Effect.flatMap(DeriveInBackground, (isWanted) => (isWanted ? Effect.asVoid(Effect.forkScoped(run)) : Effect.void))
)
