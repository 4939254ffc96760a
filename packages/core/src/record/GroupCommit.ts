/**
 * Commits events in batches: while one batch is committed, or the disk takes it, the next one gathers. A batch starts one turn of the
 * event loop after its first event; no timer delays it to make it larger.
 *
 * `CommitQueue` holds the events that wait, `QueueWait` measures how long, `InFlightKeys` joins requests with the same
 * idempotency key, `CommitBatch` commits, and `CommitJobs` answers those who wait. `AdmissionControl`, not this module, bounds how
 * much may wait.
 */
import * as Context from "effect/Context"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as FiberSet from "effect/FiberSet"
import * as Layer from "effect/Layer"
import { IdempotencyKeyReused, Overloaded, StorageUnavailable } from "../domain/Errors.ts"
import type { Idempotency } from "../domain/IdempotencyKey.ts"
import type { ProjectId } from "../domain/Project.ts"
import type * as PieceScanner from "../payload/scan/PieceScanner.ts"
import { SessionCache, SessionCacheBytes } from "../sessions/SessionCache.ts"
import { keyOf } from "../sessions/SessionKey.ts"
import { StaleSessions } from "../sessions/StaleSessions.ts"
import { Storage } from "../Storage.ts"
import * as Spans from "../telemetry/Spans.ts"
import type * as CommitBatch from "./CommitBatch.ts"
import * as CommitJobs from "./CommitJobs.ts"
import { CommitLimits } from "./CommitLimits.ts"
import * as CommitMetrics from "./CommitMetrics.ts"
import type * as CommitSteps from "./CommitSteps.ts"
import { CommitQueue } from "./CommitQueue.ts"
import { EventIds } from "./EventIds.ts"
import { InFlightKeys } from "./InFlightKeys.ts"
import { QueueWait } from "./QueueWait.ts"

export class GroupCommit extends Context.Service<
  GroupCommit,
  {
    /**
     * Succeeds when the event is committed. Interrupting the caller does not take the event back. Fails with `Overloaded` if
     * the event has waited for a batch for too long.
     */
    readonly append: (
      event: CommitBatch.PendingEvent
    ) => Effect.Effect<CommitBatch.WrittenEvent, StorageUnavailable | Overloaded | IdempotencyKeyReused>
    /** The same for a group of steps. */
    readonly appendSteps: (
      steps: CommitSteps.PendingSteps
    ) => Effect.Effect<CommitSteps.Outcome, StorageUnavailable | Overloaded>
    /**
     * How many events may be under way, from their admission to their answers: one more would probably wait for too long. Refusing it at
     * once costs less. None while those that wait have waited for too long.
     */
    readonly capacity: () => number
    /** Whether events wait or are being committed. */
    readonly isRecording: () => boolean
    /** How the conversations of a session are known to begin. */
    readonly knownPrefixesOf: (project: ProjectId, session: string) => PieceScanner.KnownPrefixes
  }
>()("tachograph/core/GroupCommit") {
  /** Closing its scope waits for the events that were appended. */
  static readonly layer: Layer.Layer<GroupCommit, never, Storage> = Layer.effect(
    GroupCommit,
    Effect.suspend(() => make)
  ).pipe(Layer.provide([StaleSessions.layer, EventIds.layer]))
}

/** Watches the events that wait, and fails those that have waited for too long. */
const expiring = (
  queue: CommitQueue<CommitJobs.Job>,
  wait: QueueWait,
  completeJobs: CommitJobs.CompleteJobs,
  run: (timer: Effect.Effect<void>) => unknown
) => {
  let isWatching = false
  let isOverdue = false
  /** A job that waits for batches of its own session or node says nothing about how long others would wait. */
  const look = (): void => {
    isOverdue = queue.hasReady(({ tick }) => wait.isOverdue(tick))
  }
  /** Advances the clock while events wait. */
  const timer = Effect.gen(function* () {
    while (queue.size > 0) {
      yield* Effect.sleep(wait.tickMs)
      wait.advance()
      const expired = queue.remove(({ tick }) => wait.isExpired(tick))
      completeJobs(expired, Exit.fail(new Overloaded()))
      look()
    }
    isWatching = false
  })
  return {
    look,
    /** Whether some have waited for so long that another one would probably wait for too long. */
    isOverdue: () => isOverdue,
    watch: () => {
      if (isWatching) return
      isWatching = true
      run(timer)
    }
  }
}

interface Pumping {
  readonly queue: CommitQueue<CommitJobs.Job>
  readonly waiting: ReturnType<typeof expiring>
  readonly appendConcurrency: number
  readonly commitBatch: ReturnType<typeof CommitJobs.committing>
  readonly completeJobs: CommitJobs.CompleteJobs
  /** How the jobs end of a batch that was interrupted. */
  readonly closed: Exit.Exit<never, StorageUnavailable>
  readonly run: (effect: Effect.Effect<void>) => unknown
}

/** Takes batches out of the queue, and has them committed. */
const pumping = ({ appendConcurrency, closed, commitBatch, completeJobs, queue, run, waiting }: Pumping) => {
  const active = new Set<CommitJobs.StaleDuringBatch>()
  let isScheduled = false
  /** When the last batch ended, if events waited for its place. */
  let freeMs: number | undefined

  const pump = (): void => {
    while (active.size < appendConcurrency && queue.size > 0) {
      const batch = queue.takeBatch()
      if (batch.length === 0) return
      waiting.look()
      const stale: CommitJobs.StaleDuringBatch = []
      active.add(stale)
      const end = () => {
        active.delete(stale)
        queue.release(batch)
        freeMs = queue.size > 0 ? performance.now() : undefined
        schedule()
      }
      const running = commitBatch(batch, stale, freeMs)
      freeMs = undefined
      if (Exit.isExit(running)) return end()
      run(
        Effect.onExit(running, (exit) => {
          if (Exit.isFailure(exit)) completeJobs(batch, closed)
          end()
          return Effect.void
        })
      )
    }
  }

  const pumpNext = Effect.andThen(
    Effect.yieldNow,
    Effect.sync(() => {
      isScheduled = false
      pump()
    })
  )
  /**
   * Starts the next batch after one turn of the event loop, so that requests that are ready in the same turn join it. This
   * takes no timer.
   */
  const schedule = (): void => {
    if (isScheduled || queue.size === 0) return
    isScheduled = true
    run(pumpNext)
  }

  return {
    schedule,
    /** Batches that are being committed. */
    get size() {
      return active.size
    },
    noteStale: (project: ProjectId, session: number): void => {
      for (const stale of active) stale.push([project, session])
    }
  }
}

const make = Effect.gen(function* () {
  const storage = yield* Storage
  const ids = yield* EventIds
  const sessions = new SessionCache(yield* SessionCacheBytes)
  const limits = yield* CommitLimits
  const { appendConcurrency } = storage
  const queue = new CommitQueue<CommitJobs.Job>(limits.batch, storage.nodes?.concurrency)
  const wait = new QueueWait(limits.queue.waitMs)
  const inFlightKeys = new InFlightKeys<CommitJobs.EventJob>()
  const completeJobs = CommitJobs.completing(inFlightKeys)
  const metrics = yield* CommitMetrics.make
  const isTraced = yield* Spans.isTraced
  const commitBatch = CommitJobs.committing({ storage, sessions, ids, wait, metrics, completeJobs, isTraced })
  let isClosed = false
  const closed = Exit.fail(new StorageUnavailable({ cause: new Error("The recorder is closed") }))
  // Runs last. Nothing is known of an event that arrived while it closed, or in a batch that did not end in time: it must not wait.
  yield* Effect.addFinalizer(() =>
    Effect.sync(() => {
      isClosed = true
      completeJobs(
        queue.remove(() => true),
        closed
      )
    })
  )
  const fibers = yield* FiberSet.make<void>()
  const run = yield* FiberSet.runtime(fibers)()
  // Not awaited on close: the timer ends when the queue is empty.
  const waiting = expiring(queue, wait, completeJobs, yield* FiberSet.makeRuntime())
  // Runs before the fibers are interrupted.
  yield* Effect.addFinalizer(() =>
    Effect.interruptible(FiberSet.awaitEmpty(fibers)).pipe(
      Effect.timeoutOption(limits.closingMs),
      Effect.andThen(Effect.sync(() => (isClosed = true)))
    )
  )

  const batches = pumping({ queue, waiting, appendConcurrency, commitBatch, completeJobs, closed, run })
  yield* (yield* StaleSessions).listen((project, session) => {
    sessions.deleteNumber(project, session)
    batches.noteStale(project, session)
  })

  const push = <Job extends CommitJobs.Job>(job: Job): Job => {
    queue.push(job)
    batches.schedule()
    waiting.watch()
    return job
  }
  const enqueue = (event: CommitBatch.PendingEvent): CommitJobs.EventJob =>
    push(CommitJobs.jobOf(event, storage.nodes, wait.tickOf(event.arrivedAtMs)))

  const appendOnce = (event: CommitBatch.PendingEvent, idempotency: Idempotency) => {
    const { isFirst, job } = inFlightKeys.claim(CommitJobs.scopeOf(event), idempotency.key, () => enqueue(event))
    return Effect.flatMap(Deferred.await(job.done), (written) => {
      if (!isSameBody(written.idempotency, idempotency)) return Effect.fail(new IdempotencyKeyReused())
      if (isFirst && !written.isReplay) return Effect.succeed(written)
      metrics.replayed()
      return Effect.succeed({ ...written, isReplay: true })
    })
  }

  return GroupCommit.of({
    append: (event) =>
      Effect.suspend(
        (): Effect.Effect<CommitBatch.WrittenEvent, StorageUnavailable | Overloaded | IdempotencyKeyReused> => {
          // Nothing would commit it.
          if (isClosed) return closed
          return event.idempotency === undefined
            ? Deferred.await(enqueue(event).done)
            : appendOnce(event, event.idempotency)
        }
      ),
    appendSteps: (steps) =>
      Effect.suspend(() =>
        isClosed ? closed : Deferred.await(push(CommitJobs.stepsJobOf(steps, storage.nodes, wait.tickOf())).done)
      ),
    isRecording: () => queue.size + batches.size > 0,
    capacity: () =>
      queue.size > 0 && waiting.isOverdue() ? 0 : limits.batch.events * appendConcurrency + wait.eventsInBudget,
    knownPrefixesOf: (project, session) => sessions.knownPrefixesOf(keyOf(project, session))
  })
})

const isSameBody = (a: Idempotency | undefined, b: Idempotency | undefined): boolean =>
  a !== undefined && b !== undefined && Buffer.compare(a.bodyHash, b.bodyHash) === 0
