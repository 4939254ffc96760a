/**
 * Commits events in batches: while one batch is committed, or the disk takes it, the next one gathers. A batch starts one turn of the
 * event loop after its first event; no timer delays it to make it larger.
 *
 * `CommitQueue` holds the events that wait, `QueueWait` measures how long, `InFlightKeys` joins requests with the same
 * idempotency key, and `CommitBatch` commits. `AdmissionControl`, not this module, bounds how much may wait.
 */
import * as Cause from "effect/Cause"
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
import * as CommitBatch from "./CommitBatch.ts"
import { CommitLimits } from "./CommitLimits.ts"
import * as CommitMetrics from "./CommitMetrics.ts"
import { CommitQueue } from "./CommitQueue.ts"
import { EventIds } from "./EventIds.ts"
import { InFlightKeys } from "./InFlightKeys.ts"
import { QueueWait } from "./QueueWait.ts"

interface Job extends CommitBatch.Member {
  readonly bytes: number
  readonly lane: number
  readonly node: number
  readonly done: Deferred.Deferred<CommitBatch.Outcome, StorageUnavailable | Overloaded>
  /** When it began to wait. */
  readonly tick: number
}

/** The sessions that became stale since a batch began. The batch may put what it read before into the cache. */
type StaleDuringBatch = Array<readonly [project: ProjectId, session: number]>

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

const jobOf = (event: CommitBatch.PendingEvent, nodes: Storage["Service"]["nodes"], tick: number): Job => {
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

type CompleteJobs = ReturnType<typeof completing>

const completing =
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
const committing = ({ completeJobs, ids, isTraced, metrics, sessions, storage, wait }: Committing) => {
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

/** Watches the events that wait, and fails those that have waited for too long. */
const expiring = (
  queue: CommitQueue<Job>,
  wait: QueueWait,
  completeJobs: CompleteJobs,
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
  readonly queue: CommitQueue<Job>
  readonly waiting: ReturnType<typeof expiring>
  readonly appendConcurrency: number
  readonly commitBatch: ReturnType<typeof committing>
  readonly completeJobs: CompleteJobs
  /** How the jobs end of a batch that was interrupted. */
  readonly closed: Exit.Exit<never, StorageUnavailable>
  readonly run: (effect: Effect.Effect<void>) => unknown
}

/** Takes batches out of the queue, and has them committed. */
const pumping = ({ appendConcurrency, closed, commitBatch, completeJobs, queue, run, waiting }: Pumping) => {
  const active = new Set<StaleDuringBatch>()
  let isScheduled = false
  /** When the last batch ended, if events waited for its place. */
  let freeMs: number | undefined

  const pump = (): void => {
    while (active.size < appendConcurrency && queue.size > 0) {
      const batch = queue.takeBatch()
      if (batch.length === 0) return
      waiting.look()
      const stale: StaleDuringBatch = []
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
  const queue = new CommitQueue<Job>(limits.batch, storage.nodes?.concurrency)
  const wait = new QueueWait(limits.queue.waitMs)
  const inFlightKeys = new InFlightKeys<Job>()
  const completeJobs = completing(inFlightKeys)
  const metrics = yield* CommitMetrics.make
  const isTraced = yield* Spans.isTraced
  const commitBatch = committing({ storage, sessions, ids, wait, metrics, completeJobs, isTraced })
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

  const enqueue = (event: CommitBatch.PendingEvent): Job => {
    const job = jobOf(event, storage.nodes, wait.tickOf(event.arrivedAtMs))
    queue.push(job)
    batches.schedule()
    waiting.watch()
    return job
  }

  const appendOnce = (event: CommitBatch.PendingEvent, idempotency: Idempotency) => {
    const { isFirst, job } = inFlightKeys.claim(scopeOf(event), idempotency.key, () => enqueue(event))
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
    isRecording: () => queue.size + batches.size > 0,
    capacity: () =>
      queue.size > 0 && waiting.isOverdue() ? 0 : limits.batch.events * appendConcurrency + wait.eventsInBudget,
    knownPrefixesOf: (project, session) => sessions.knownPrefixesOf(keyOf(project, session))
  })
})

const scopeOf = ({ project, session }: CommitBatch.PendingEvent) => ({ project, session })

const isSameBody = (a: Idempotency | undefined, b: Idempotency | undefined): boolean =>
  a !== undefined && b !== undefined && Buffer.compare(a.bodyHash, b.bodyHash) === 0
