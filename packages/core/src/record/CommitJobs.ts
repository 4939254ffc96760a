/** Events that wait to be committed, and what becomes of a batch of them. */
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
import type * as CommitMetrics from "./CommitMetrics.ts"
import type { EventIds } from "./EventIds.ts"
import type { InFlightKeys } from "./InFlightKeys.ts"
import type { QueueWait } from "./QueueWait.ts"

export interface Job extends CommitBatch.Member {
  readonly bytes: number
  readonly lane: number
  readonly node: number
  readonly done: Deferred.Deferred<CommitBatch.Outcome, StorageUnavailable | Overloaded>
  /** When it began to wait. */
  readonly tick: number
}

/** The sessions that became stale since a batch began. The batch may put what it read before into the cache. */
export type StaleDuringBatch = Array<readonly [project: ProjectId, session: number]>

export const jobOf = (event: CommitBatch.PendingEvent, nodes: Storage["Service"]["nodes"], tick: number): Job => {
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

export type CompleteJobs = ReturnType<typeof completing>

export const completing =
  (inFlightKeys: InFlightKeys<Job>) =>
  (jobs: ReadonlyArray<Job>, exit: Exit.Exit<CommitBatch.Committed, StorageUnavailable | Overloaded>): void => {
    for (const [index, { done, event }] of jobs.entries()) {
      if (event.idempotency !== undefined) inFlightKeys.release(scopeOf(event), event.idempotency.key)
      Deferred.doneUnsafe(
        done,
        Exit.map(exit, ({ outcomes }) => outcomes[index]!)
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
  const atOnce = (batch: ReadonlyArray<Job>) => {
    if (isTraced) return undefined
    try {
      return CommitBatch.commitAtOnce(storage, sessions, ids, batch)
    } catch (defect) {
      return Exit.die(defect)
    }
  }

  const commitBatch = (batch: ReadonlyArray<Job>, stale: StaleDuringBatch, freeMs?: number): Effect.Effect<void> => {
    const startedMs = performance.now()
    const end = (exit: Exit.Exit<CommitBatch.Committed, StorageUnavailable>): Effect.Effect<void> => {
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
      wait.sampleThroughput(batch.length, seconds + waitedMs / 1000, storage.appendConcurrency)
      metrics.committed(exit.value.written, seconds)
      return Exit.void
    }
    const committed = atOnce(batch)
    const exit = CommitBatch.exitOf(committed)
    return exit === undefined
      ? Effect.flatMap(Effect.exit(committed ?? CommitBatch.commit(storage, sessions, ids, batch)), end)
      : end(exit)
  }
  return commitBatch
}

export const scopeOf = ({ project, session }: CommitBatch.PendingEvent) => ({ project, session })
