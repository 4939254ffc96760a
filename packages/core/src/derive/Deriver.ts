/**
 * Adds recorded events to what the storage keeps of them, in the background: a 200 does not wait for it, and reads do not
 * need it, but cost less for what it has done.
 */
import { Context, Duration, Effect, Layer } from "effect"
import type { ProjectId } from "../domain/Project.ts"
import { Storage } from "../Storage.ts"
import { atRate, backgroundRate, type Throttle } from "../Throttle.ts"

/** Events that are added in one transaction. */
const eventsPerStep = 500

/** How often it looks for new events. */
const interval = Duration.seconds(2)
const pauseAfterFailure = Duration.seconds(30)

/** Whether a recorder derives in the background. Not where the storage is only read, or the process may be frozen. */
export const DeriveInBackground = Context.Reference<boolean>("tachograph/core/DeriveInBackground", {
  defaultValue: () => true
})

/** Leaves recording nine tenths of the time. */
const backgroundThrottle = atRate(backgroundRate)

/** Adds all events of a project up to the watermark. Every transaction runs through `throttle`. */
export const derive = Effect.fnUntraced(function* (
  storage: Storage["Service"],
  project: ProjectId,
  throttle: Throttle
) {
  const upTo = yield* storage.watermark(project)
  let events = 0
  for (;;) {
    const added = yield* throttle(storage.deriveEvents(project, upTo, eventsPerStep))
    events += added
    if (added < eventsPerStep) return events
  }
})

/** Unlike `Effect.sleep` it does not keep a process running that has nothing else to do. */
const pause = (duration: Duration.Duration): Effect.Effect<void> =>
  Effect.callback((resume) => {
    const timer = setTimeout(() => resume(Effect.void), Duration.toMillis(duration)).unref()
    return Effect.sync(() => clearTimeout(timer))
  })

/** Runs until interrupted. */
const run = Effect.gen(function* () {
  const storage = yield* Storage
  const pass = Effect.flatMap(storage.listProjects, (projects) =>
    Effect.forEach(projects, (project) => derive(storage, project, backgroundThrottle), { discard: true })
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
export const layer: Layer.Layer<never, never, Storage> = Layer.effectDiscard(
  Effect.flatMap(DeriveInBackground, (isWanted) => (isWanted ? Effect.asVoid(Effect.forkScoped(run)) : Effect.void))
)
