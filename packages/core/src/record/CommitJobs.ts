/** Events, and groups of steps, that wait to be committed, and what becomes of a batch of them. */
import * as Cause from "effect/Cause"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import type { Overloaded, StorageUnavailable } from "../domain/Errors.ts"
import type { ProjectId } from "../domain/Project.ts"
import type { SessionCache } from "../sessions/SessionCache.ts"
import { keyOf } from "../sessions/SessionKey.ts"
import type { Storage } from "../Storage.ts"
import * as CommitBatch from "./CommitBatch.ts"
import * as CommitSteps from "./CommitSteps.ts"
import type * as CommitMetrics from "./CommitMetrics.ts"
import type { EventIds } from "./EventIds.ts"
import type { InFlightKeys } from "./InFlightKeys.ts"
import type { QueueWait } from "./QueueWait.ts"

interface Waiting<Outcome> {
  readonly bytes: number
  readonly lane: number
  readonly node: number
  readonly done: Deferred.Deferred<Outcome, StorageUnavailable | Overloaded>
  /** When it began to wait. */
  readonly tick: number
}

export interface EventJob extends CommitBatch.Member, Waiting<CommitBatch.Outcome> {}

/** Its lane is below 0, so that no batch has events and steps. */
export interface StepsJob extends CommitSteps.Member, Waiting<CommitSteps.Outcome> {}

export type Job = EventJob | StepsJob

/** The sessions that became stale since a batch began. The batch may put what it read before into the cache. */
export type StaleDuringBatch = Array<readonly [project: ProjectId, session: number]>

export const jobOf = (event: CommitBatch.PendingEvent, nodes: Storage["Service"]["nodes"], tick: number): EventJob => {
  const lane = nodes?.laneOf(event.session) ?? 0
  return {
    key: keyOf(event.project, event.session),
    event,
    bytes: event.payload.text.length,
    lane,
    node: nodes?.nodeOf(lane) ?? 0,
    done: Deferred.makeUnsafe(),
    tick
  }
}

export const stepsJobOf = (
  event: CommitSteps.PendingSteps,
  nodes: Storage["Service"]["nodes"],
  tick: number
): StepsJob => {
  const lane = nodes?.laneOf(event.session) ?? 0
  return {
    key: keyOf(event.project, event.session),
    event,
    bytes: event.steps.reduce((sum, { bytes }) => sum + bytes, 0),
    lane: -1 - lane,
    node: nodes?.nodeOf(lane) ?? 0,
    done: Deferred.makeUnsafe(),
    tick
  }
}

/** Whether a batch is of steps, and not of events. */
const areOfSteps = (batch: ReadonlyArray<Job>): batch is ReadonlyArray<StepsJob> => batch[0]!.lane < 0

/** What became of a batch: the outcomes of its jobs, in order. */
interface Committed extends Pick<CommitBatch.Committed, "written"> {
  readonly outcomes: ReadonlyArray<CommitBatch.Outcome | CommitSteps.Outcome>
}

export type CompleteJobs = ReturnType<typeof completing>

export const completing =
  (inFlightKeys: InFlightKeys<EventJob>) =>
  (jobs: ReadonlyArray<Job>, exit: Exit.Exit<Committed, StorageUnavailable | Overloaded>): void => {
    for (const [index, { done, event }] of jobs.entries()) {
      if (event.idempotency !== undefined) inFlightKeys.release(scopeOf(event), event.idempotency.key)
      Deferred.doneUnsafe(
        done as Deferred.Deferred<Committed["outcomes"][number], StorageUnavailable | Overloaded>,
        Exit.map(exit, ({ outcomes }) => outcomes[index])
      )
    }
  }

interface Committing {
  readonly storage: Storage["Service"]
  readonly sessions: SessionCache
  readonly ids: EventIds["Service"]
  readonly wait: QueueWait
  readonly metrics: CommitMetrics.CommitMetrics
  readonly completeJobs: CompleteJobs
  /** Whether spans are recorded, of which a batch that is committed at once has none. */
  readonly isTraced: boolean
}

/**
 * Commits a batch and completes its jobs: at once if it can be, then it returns an `Exit`. A batch that fails with a defect is halved
 * until the faulty event is alone.
 */
export const committing = ({ completeJobs, ids, isTraced, metrics, sessions, storage, wait }: Committing) => {
  const atOnce = (batch: ReadonlyArray<EventJob>) => {
    if (isTraced) return undefined
    try {
      return CommitBatch.commitAtOnce(storage, sessions, ids, batch)
    } catch (defect) {
      return Exit.die(defect)
    }
  }

  const start = (batch: ReadonlyArray<Job>): Effect.Effect<Committed, StorageUnavailable> => {
    if (areOfSteps(batch)) {
      return Effect.map(CommitSteps.commit(storage, sessions, batch), (outcomes) => ({ written: [], outcomes }))
    }
    const events = batch as ReadonlyArray<EventJob>
    return atOnce(events) ?? CommitBatch.commit(storage, sessions, ids, events)
  }

  const commitBatch = (batch: ReadonlyArray<Job>, stale: StaleDuringBatch, freeMs?: number): Effect.Effect<void> => {
    const startedMs = performance.now()
    const end = (exit: Exit.Exit<Committed, StorageUnavailable>): Effect.Effect<void> => {
      if (Exit.isFailure(exit)) {
        // Their cached indexes may already contain pieces of this batch.
        for (const { key } of batch) sessions.delete(key)
        if (batch.length > 1 && Cause.hasDies(exit.cause)) {
          const middle = batch.length >>> 1
          return Effect.forEach(
            [batch.slice(0, middle), batch.slice(middle)],
            (half) => Effect.suspend(() => commitBatch(half, stale)),
            { discard: true }
          )
        }
      }
      for (const [project, session] of stale) sessions.deleteNumber(project, session)
      completeJobs(batch, exit)
      if (Exit.isFailure(exit)) {
        metrics.failed()
        return Exit.void
      }
      const seconds = (performance.now() - startedMs) / 1000
      // The thread may have done other work while events waited.
      const waitedMs = freeMs === undefined ? 0 : startedMs - freeMs
      // A group of steps may be as much as many events.
      if (!areOfSteps(batch)) {
        wait.sampleThroughput(batch.length, seconds + waitedMs / 1000, storage.appendConcurrency)
      }
      metrics.committed(exit.value.written, seconds)
      return Exit.void
    }
    const committed = start(batch)
    const exit = CommitBatch.exitOf(committed)
    return exit === undefined ? Effect.flatMap(Effect.exit(committed), end) : end(exit)
  }
  return commitBatch
}

export const scopeOf = ({ project, session }: CommitBatch.PendingEvent) => ({ project, session })
