/**
 * Appends events to the storage, many at a time: while one batch is being committed, the next one gathers. One event alone
 * waits for nobody.
 *
 * A session is in one batch at a time. What becomes of a batch stands in `EventBatch`.
 *
 * Of events with the same idempotency key, one is written. Those that come while it is under way wait for it here; what other
 * processes have written, the storage knows.
 */
import { Cause, Context, Deferred, Effect, Exit, FiberSet, Layer } from "effect"
import { IdempotencyKeyReused, Overloaded, type StorageUnavailable } from "../domain/Errors.ts"
import type { Idempotency } from "../domain/IdempotencyKey.ts"
import type { ProjectId } from "../domain/Project.ts"
import type { SessionId } from "../domain/Session.ts"
import * as EventBatch from "./CommitBatch.ts"
import type * as Marks from "../payload/scan/PieceScanner.ts"
import { keyOf, SessionMemory, SessionMemoryBytes } from "../sessions/SessionCache.ts"
import { Storage } from "../Storage.ts"
import * as WriterMetrics from "./CommitMetrics.ts"

interface Job extends EventBatch.Member {
  readonly done: Deferred.Deferred<EventBatch.Outcome, StorageUnavailable | Overloaded>
  /** When it came, in the writer's ticks. */
  readonly tick: number
}

/** How finely waiting is measured: so many parts of what it may take. */
const ticksOfWait = 8

/** Where somebody has waited for so many of them, whoever comes now may well wait in vain. */
const ticksBehind = 6

/** A batch of so many events tells how many can be written in a second. For so long it is believed, in milliseconds. */
const tellingBatch = 32
const believedFor = 5_000

/** Events, and bytes of their texts. One event alone is always taken, whatever its size. */
interface WriterLimit {
  readonly events: number
  readonly bytes: number
}

export interface WriterLimitsValue {
  /**
   * What may wait or be under way at once. Whoever has waited for `wait` milliseconds and is in no batch yet is refused: a
   * database that takes no more is no reason to leave a client without an answer.
   */
  readonly queue: WriterLimit & { readonly wait: number }
  /** Bytes of bodies that are held at once: as far as they have been received, and until their events are written. */
  readonly bodies: number
  /** What one transaction commits. */
  readonly batch: WriterLimit
}

export const defaultWriterLimits: WriterLimitsValue = {
  queue: { events: 2048, bytes: 32 * 1024 * 1024, wait: 400 },
  bodies: 64 * 1024 * 1024,
  batch: { events: 256, bytes: 8 * 1024 * 1024 }
}

export const WriterLimits = Context.Reference<WriterLimitsValue>("tachograph/core/WriterLimits", {
  defaultValue: () => defaultWriterLimits
})

export class EventWriter extends Context.Service<
  EventWriter,
  {
    /** Succeeds when the event is committed. Whoever waits for it may be interrupted; the event is written all the same. */
    readonly append: (
      event: EventBatch.PendingEvent
    ) => Effect.Effect<EventBatch.WrittenEvent, StorageUnavailable | Overloaded | IdempotencyKeyReused>
    /** Whether what comes now is likely to wait for longer than it may: to refuse it at once costs nobody anything. */
    readonly isBehind: () => boolean
    /** How the conversations of a session are known to begin. */
    readonly beginningsOf: (project: ProjectId, session: SessionId | string) => Marks.Beginnings
  }
>()("tachograph/core/EventWriter") {
  /** Closing it waits for what was handed in. */
  static readonly layer: Layer.Layer<EventWriter, never, Storage> = Layer.effect(
    EventWriter,
    Effect.suspend(() => make)
  )
}

const make = Effect.gen(function* () {
  const storage = yield* Storage
  const memory = new SessionMemory(yield* SessionMemoryBytes)
  const fibers = yield* FiberSet.make<void>()
  const run = yield* FiberSet.runtime(fibers)()
  const watch = yield* FiberSet.makeRuntime()
  // Runs before the fibers are interrupted.
  yield* Effect.addFinalizer(() => FiberSet.awaitEmpty(fibers))
  const limits = yield* WriterLimits
  let held = { events: 0, bytes: 0 }
  yield* WriterMetrics.showQueue(() => held)
  const waiting: Array<Job> = []
  const busy = new Set<string>()
  /** Events that are under way, by project and idempotency key. */
  const claims = new Map<string, Job>()
  let lanes = 0
  let isWoken = false
  let tick = 0
  let isWatched = false
  let isBehind = false
  /** Events a second, as the last large batches tell. */
  let speed = { events: Infinity, told: -Infinity }

  /** Who waits for others of its own session says nothing of how long the next one would. */
  const lookBehind = (): void => {
    isBehind = waiting.some((job) => tick - job.tick >= ticksBehind && !busy.has(job.key))
  }

  const learnSpeed = (events: number, seconds: number): void => {
    if (events < tellingBatch) return
    const told = performance.now()
    const now = (storage.lanes * events) / seconds
    const before = told - speed.told < believedFor ? speed.events : now
    speed = { events: 0.8 * before + 0.2 * now, told }
  }

  /** Whether those who wait already take longer than whoever comes now may wait, or nearly. */
  const isLong = (): boolean =>
    waiting.length >= limits.batch.events &&
    waiting.length / speed.events > (limits.queue.wait / 1000) * (ticksBehind / ticksOfWait) &&
    performance.now() - speed.told < believedFor

  const ticksSince = (time = performance.now()): number =>
    Math.floor(((performance.now() - time) / limits.queue.wait) * ticksOfWait)

  /** The next jobs, in order, of sessions that are in no batch. */
  const take = (): ReadonlyArray<Job> => {
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
  const wake = (): void => {
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
  const refuseLate = Effect.gen(function* () {
    while (waiting.length > 0) {
      yield* Effect.sleep(limits.queue.wait / ticksOfWait)
      tick++
      const late = waiting.filter((job) => tick - job.tick >= ticksOfWait)
      waiting.splice(0, waiting.length, ...waiting.filter((job) => tick - job.tick < ticksOfWait))
      finish(late, Exit.fail(new Overloaded()))
      lookBehind()
    }
    isWatched = false
  })

  const pump = (): void => {
    while (lanes < storage.lanes && waiting.length > 0) {
      const batch = take()
      if (batch.length === 0) return
      const keys = new Set(batch.map(({ key }) => key))
      for (const key of keys) busy.add(key)
      lookBehind()
      lanes++
      run(
        Effect.onExit(settle(batch), () => {
          lanes--
          for (const key of keys) busy.delete(key)
          wake()
          return Effect.void
        })
      )
    }
  }

  /** Writes a batch and tells everybody. One that the storage refuses is halved, until the event that it refuses stands alone. */
  const settle = (batch: ReadonlyArray<Job>): Effect.Effect<void> =>
    Effect.suspend(() => {
      const started = performance.now()
      return Effect.flatMap(Effect.exit(EventBatch.commit(storage, memory, batch)), (exit) => {
        if (Exit.isFailure(exit)) {
          for (const { key } of batch) memory.delete(key)
          if (batch.length > 1 && Cause.hasDies(exit.cause)) {
            const middle = batch.length >>> 1
            return Effect.andThen(settle(batch.slice(0, middle)), settle(batch.slice(middle)))
          }
        }
        finish(batch, exit)
        if (Exit.isFailure(exit)) return WriterMetrics.failed
        const seconds = (performance.now() - started) / 1000
        learnSpeed(batch.length, seconds)
        return WriterMetrics.committed(exit.value.written, seconds)
      })
    })

  /** Gives up their places, and tells whoever waits. */
  const finish = (
    batch: ReadonlyArray<Job>,
    exit: Exit.Exit<EventBatch.Committed, StorageUnavailable | Overloaded>
  ): void => {
    for (const [index, { done, event }] of batch.entries()) {
      const { idempotency, payload, project } = event
      held = { events: held.events - 1, bytes: held.bytes - payload.text.length }
      if (idempotency !== undefined) claims.delete(keyOf(project, idempotency.key))
      Deferred.doneUnsafe(
        done,
        Exit.map(exit, ({ outcomes }) => outcomes[index]!)
      )
    }
  }

  /** Takes its place in the queue, until it is written. */
  const enqueue = (event: EventBatch.PendingEvent): Job | undefined => {
    const bytes = held.bytes + event.payload.text.length
    if (held.events > 0 && (held.events >= limits.queue.events || bytes > limits.queue.bytes)) return undefined
    held = { events: held.events + 1, bytes }
    const key = keyOf(event.project, event.summary.session)
    const job: Job = { key, event, done: Deferred.makeUnsafe(), tick: tick - ticksSince(event.cameAt) }
    waiting.push(job)
    wake()
    if (!isWatched) {
      isWatched = true
      watch(refuseLate)
    }
    return job
  }

  return EventWriter.of({
    append: (event) =>
      Effect.suspend(
        (): Effect.Effect<EventBatch.WrittenEvent, StorageUnavailable | Overloaded | IdempotencyKeyReused> => {
          const { idempotency } = event
          const claim = idempotency && keyOf(event.project, idempotency.key)
          const first = claim === undefined ? undefined : claims.get(claim)
          const job = first ?? enqueue(event)
          if (job === undefined) return Effect.fail(new Overloaded())
          if (claim === undefined) return Deferred.await(job.done)
          claims.set(claim, job)
          return Effect.flatMap(Deferred.await(job.done), (written) =>
            !isSameBody(written.idempotency, idempotency)
              ? Effect.fail(new IdempotencyKeyReused())
              : written.isReplay || first !== undefined
                ? Effect.as(WriterMetrics.replayed, { ...written, isReplay: true })
                : Effect.succeed(written)
          )
        }
      ),
    isBehind: () => waiting.length > 0 && (isBehind || isLong()),
    beginningsOf: (project, session) => memory.beginningsOf(keyOf(project, session))
  })
})

const isSameBody = (a: Idempotency | undefined, b: Idempotency | undefined): boolean =>
  a !== undefined && b !== undefined && Buffer.compare(a.bodyHash, b.bodyHash) === 0
