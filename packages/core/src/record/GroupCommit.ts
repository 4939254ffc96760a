/**
 * Appends events to the storage, many at a time: while one batch is being committed, the next one gathers. One event alone
 * waits for nobody.
 *
 * A session is in one batch at a time. What becomes of a batch stands in `CommitBatch`.
 *
 * Of events with the same idempotency key, one is written. Those that come while it is under way wait for it here; what other
 * processes have written, the storage knows.
 */
import { Cause, Context, Deferred, Effect, Exit, FiberSet, Layer } from "effect"
import { IdempotencyKeyReused, Overloaded, type StorageUnavailable } from "../domain/Errors.ts"
import type { Idempotency } from "../domain/IdempotencyKey.ts"
import type { ProjectId } from "../domain/Project.ts"
import type { SessionId } from "../domain/Session.ts"
import * as CommitBatch from "./CommitBatch.ts"
import type * as PieceScanner from "../payload/scan/PieceScanner.ts"
import { SessionCache, SessionCacheBytes } from "../sessions/SessionCache.ts"
import { keyOf } from "../sessions/SessionKey.ts"
import { Storage } from "../Storage.ts"
import * as CommitMetrics from "./CommitMetrics.ts"

interface Job extends CommitBatch.Member {
  readonly done: Deferred.Deferred<CommitBatch.Outcome, StorageUnavailable | Overloaded>
  /** When it came, in the writer's ticks. */
  readonly tick: number
}

/** How finely waiting is measured: so many parts of what it may take. */
const ticksOfWait = 8

/** Where somebody has waited for so many of them, whoever comes now may well wait in vain. */
const ticksBehind = 6

/** A batch of so many events tells how many can be written in a second. For so long it is believed, in milliseconds. */
const minSampleEvents = 32
const sampleTtlMs = 5_000

/** Events, and bytes of their texts. One event alone is always taken, whatever its size. */
interface CommitLimit {
  readonly events: number
  readonly bytes: number
}

export interface CommitLimitsValue {
  /**
   * What may wait or be under way at once. Whoever has waited for `wait` milliseconds and is in no batch yet is refused: a
   * database that takes no more is no reason to leave a client without an answer.
   */
  readonly queue: CommitLimit & { readonly wait: number }
  /** Bytes of bodies that are held at once: as far as they have been received, and until their events are written. */
  readonly bodies: number
  /** What one transaction commits. */
  readonly batch: CommitLimit
}

export const defaultCommitLimits: CommitLimitsValue = {
  queue: { events: 2048, bytes: 32 * 1024 * 1024, wait: 400 },
  bodies: 64 * 1024 * 1024,
  batch: { events: 256, bytes: 8 * 1024 * 1024 }
}

export const CommitLimits = Context.Reference<CommitLimitsValue>("tachograph/core/CommitLimits", {
  defaultValue: () => defaultCommitLimits
})

export class GroupCommit extends Context.Service<
  GroupCommit,
  {
    /** Succeeds when the event is committed. Whoever waits for it may be interrupted; the event is written all the same. */
    readonly append: (
      event: CommitBatch.PendingEvent
    ) => Effect.Effect<CommitBatch.WrittenEvent, StorageUnavailable | Overloaded | IdempotencyKeyReused>
    /** Whether what comes now is likely to wait for longer than it may: to refuse it at once costs nobody anything. */
    readonly isSaturated: () => boolean
    /** How the conversations of a session are known to begin. */
    readonly knownPrefixesOf: (project: ProjectId, session: SessionId | string) => PieceScanner.KnownPrefixes
  }
>()("tachograph/core/GroupCommit") {
  /** Closing it waits for what was handed in. */
  static readonly layer: Layer.Layer<GroupCommit, never, Storage> = Layer.effect(
    GroupCommit,
    Effect.suspend(() => make)
  )
}

const make = Effect.gen(function* () {
  const storage = yield* Storage
  const memory = new SessionCache(yield* SessionCacheBytes)
  const fibers = yield* FiberSet.make<void>()
  const run = yield* FiberSet.runtime(fibers)()
  const runTimer = yield* FiberSet.makeRuntime()
  // Runs before the fibers are interrupted.
  yield* Effect.addFinalizer(() => FiberSet.awaitEmpty(fibers))
  const limits = yield* CommitLimits
  let held = { events: 0, bytes: 0 }
  yield* CommitMetrics.showQueue(() => held)
  const waiting: Array<Job> = []
  const busy = new Set<string>()
  /** Events that are under way, by project and idempotency key. */
  const inFlightKeys = new Map<string, Job>()
  let activeBatches = 0
  let isWoken = false
  let tick = 0
  let isWatched = false
  let isBehind = false
  /** Events a second, as the last large batches tell. */
  let throughput = { events: Infinity, told: -Infinity }

  /** Who waits for others of its own session says nothing of how long the next one would. */
  const updateSaturation = (): void => {
    isBehind = waiting.some((job) => tick - job.tick >= ticksBehind && !busy.has(job.key))
  }

  const sampleThroughput = (events: number, seconds: number): void => {
    if (events < minSampleEvents) return
    const told = performance.now()
    const now = (storage.appendConcurrency * events) / seconds
    const before = told - throughput.told < sampleTtlMs ? throughput.events : now
    throughput = { events: 0.8 * before + 0.2 * now, told }
  }

  /** Whether those who wait already take longer than whoever comes now may wait, or nearly. */
  const exceedsWaitBudget = (): boolean =>
    waiting.length >= limits.batch.events &&
    waiting.length / throughput.events > (limits.queue.wait / 1000) * (ticksBehind / ticksOfWait) &&
    performance.now() - throughput.told < sampleTtlMs

  const ticksSince = (time = performance.now()): number =>
    Math.floor(((performance.now() - time) / limits.queue.wait) * ticksOfWait)

  /** The next jobs, in order, of sessions that are in no batch. */
  const takeBatch = (): ReadonlyArray<Job> => {
    const batch: Array<Job> = []
    const left: Array<Job> = []
    const passed = new Set<string>()
    let bytes = 0
    for (const job of waiting) {
      const size = job.event.payload.text.length
      const fits = batch.length === 0 || (batch.length < limits.batch.events && bytes + size <= limits.batch.bytes)
      if (fits && !busy.has(job.key) && !passed.has(job.key)) {
        batch.push(job)
        bytes += size
      } else {
        passed.add(job.key)
        left.push(job)
      }
    }
    waiting.splice(0, waiting.length, ...left)
    return batch
  }

  /**
   * Lets everybody who is at the same point hand in theirs first: what has come in by now is read before the next batch is
   * made. That takes one turn of the event loop, and no timer.
   */
  const schedulePump = (): void => {
    if (isWoken) return
    isWoken = true
    run(
      Effect.andThen(
        Effect.yieldNow,
        Effect.sync(() => {
          isWoken = false
          pump()
        })
      )
    )
  }

  /** Ticks while somebody waits, and refuses whoever has waited too long. */
  const expireQueued = Effect.gen(function* () {
    while (waiting.length > 0) {
      yield* Effect.sleep(limits.queue.wait / ticksOfWait)
      tick++
      const late = waiting.filter((job) => tick - job.tick >= ticksOfWait)
      waiting.splice(0, waiting.length, ...waiting.filter((job) => tick - job.tick < ticksOfWait))
      completeJobs(late, Exit.fail(new Overloaded()))
      updateSaturation()
    }
    isWatched = false
  })

  const pump = (): void => {
    while (activeBatches < storage.appendConcurrency && waiting.length > 0) {
      const batch = takeBatch()
      if (batch.length === 0) return
      const keys = new Set(batch.map(({ key }) => key))
      for (const key of keys) busy.add(key)
      updateSaturation()
      activeBatches++
      run(
        Effect.onExit(commitBatch(batch), () => {
          activeBatches--
          for (const key of keys) busy.delete(key)
          schedulePump()
          return Effect.void
        })
      )
    }
  }

  /** Writes a batch and tells everybody. One that the storage refuses is halved, until the event that it refuses stands alone. */
  const commitBatch = (batch: ReadonlyArray<Job>): Effect.Effect<void> =>
    Effect.suspend(() => {
      const started = performance.now()
      return Effect.flatMap(Effect.exit(CommitBatch.commit(storage, memory, batch)), (exit) => {
        if (Exit.isFailure(exit)) {
          for (const { key } of batch) memory.delete(key)
          if (batch.length > 1 && Cause.hasDies(exit.cause)) {
            const middle = batch.length >>> 1
            return Effect.andThen(commitBatch(batch.slice(0, middle)), commitBatch(batch.slice(middle)))
          }
        }
        completeJobs(batch, exit)
        if (Exit.isFailure(exit)) return CommitMetrics.failed
        const seconds = (performance.now() - started) / 1000
        sampleThroughput(batch.length, seconds)
        return CommitMetrics.committed(exit.value.written, seconds)
      })
    })

  /** Gives up their places, and tells whoever waits. */
  const completeJobs = (
    batch: ReadonlyArray<Job>,
    exit: Exit.Exit<CommitBatch.Committed, StorageUnavailable | Overloaded>
  ): void => {
    for (const [index, { done, event }] of batch.entries()) {
      const { idempotency, payload, project } = event
      held = { events: held.events - 1, bytes: held.bytes - payload.text.length }
      if (idempotency !== undefined) inFlightKeys.delete(keyOf(project, idempotency.key))
      Deferred.doneUnsafe(
        done,
        Exit.map(exit, ({ outcomes }) => outcomes[index]!)
      )
    }
  }

  /** Takes its place in the queue, until it is written. */
  const enqueue = (event: CommitBatch.PendingEvent): Job | undefined => {
    const bytes = held.bytes + event.payload.text.length
    if (held.events > 0 && (held.events >= limits.queue.events || bytes > limits.queue.bytes)) return undefined
    held = { events: held.events + 1, bytes }
    const key = keyOf(event.project, event.summary.session)
    const job: Job = { key, event, done: Deferred.makeUnsafe(), tick: tick - ticksSince(event.arrivedAtMs) }
    waiting.push(job)
    schedulePump()
    if (!isWatched) {
      isWatched = true
      runTimer(expireQueued)
    }
    return job
  }

  return GroupCommit.of({
    append: (event) =>
      Effect.suspend(
        (): Effect.Effect<CommitBatch.WrittenEvent, StorageUnavailable | Overloaded | IdempotencyKeyReused> => {
          const { idempotency } = event
          const claim = idempotency && keyOf(event.project, idempotency.key)
          const first = claim === undefined ? undefined : inFlightKeys.get(claim)
          const job = first ?? enqueue(event)
          if (job === undefined) return Effect.fail(new Overloaded())
          if (claim === undefined) return Deferred.await(job.done)
          inFlightKeys.set(claim, job)
          return Effect.flatMap(Deferred.await(job.done), (written) =>
            !isSameBody(written.idempotency, idempotency)
              ? Effect.fail(new IdempotencyKeyReused())
              : written.isReplay || first !== undefined
                ? Effect.as(CommitMetrics.replayed, { ...written, isReplay: true })
                : Effect.succeed(written)
          )
        }
      ),
    isSaturated: () => waiting.length > 0 && (isBehind || exceedsWaitBudget()),
    knownPrefixesOf: (project, session) => memory.knownPrefixesOf(keyOf(project, session))
  })
})

const isSameBody = (a: Idempotency | undefined, b: Idempotency | undefined): boolean =>
  a !== undefined && b !== undefined && Buffer.compare(a.bodyHash, b.bodyHash) === 0
