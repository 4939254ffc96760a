/** Several processes that share one port: this one, the primary, starts them, replaces those that end, and ends them. */
import { Deferred, Duration, Effect, FiberSet, Latch, Option, Queue, type Scope } from "effect"
import cluster, { type Worker as Child } from "node:cluster"
import { availableParallelism } from "node:os"
import { CommandError, UsageError } from "../terminal/CliErrors.ts"
import * as Setting from "../config/Setting.ts"
import type { StorageChoice } from "../config/StorageChoice.ts"
import * as Worker from "./Worker.ts"
import * as WorkerMetrics from "./WorkerMetrics.ts"

/** Each has memory and connections of its own; nobody's machine gains by more. */
const maxWorkers = 64

export const setting = Setting.make({
  name: "workers",
  metavar: "COUNT|auto",
  description: "Processes that answer requests, over Postgres; auto is one per core",
  default: "1",
  expected: `a number from 1 to ${maxWorkers}, or auto`,
  parse: (text) => {
    const count =
      text === "auto" ? Math.min(availableParallelism(), maxWorkers) : /^\d{1,2}$/.test(text) ? Number(text) : 0
    return Option.filter(Option.some(count), (count) => count >= 1 && count <= maxWorkers)
  }
})

/** Fails where a storage is not one for several processes. */
export const check = (count: number, { alone }: StorageChoice): Effect.Effect<void, UsageError> =>
  count === 1 || alone === undefined
    ? Effect.void
    : Effect.fail(
        new UsageError({ message: `There cannot be ${count} workers: ${alone}; leave --workers out, or use Postgres` })
      )

/** A worker that is ending waits for requests, and closes its storage; then it is killed. Who starts servers kills later. */
const endWithin = Duration.seconds(15)

/** A worker that has answered for so long has not failed at its start. */
const steadyAfter = 10_000

/** Before one that failed at its start is replaced, in milliseconds: longer with every time. */
const pause = (failures: number) => (failures === 0 ? 0 : Math.min(100 * 2 ** (failures - 1), 5_000))

interface Ending {
  readonly how: string
  /** What it could not do, if it said so. */
  readonly failure: string | undefined
}

interface Started {
  readonly child: Child
  readonly ready: Deferred.Deferred<void>
  readonly ended: Deferred.Deferred<Ending>
}

const start = (assignment: Worker.Assignment, metrics: WorkerMetrics.WorkerMetrics): Effect.Effect<Started> =>
  Effect.sync(() => {
    const child = cluster.fork(Worker.environment(assignment))
    metrics.add(child)
    const ready = Deferred.makeUnsafe<void>()
    const ended = Deferred.makeUnsafe<Ending>()
    let failure: string | undefined
    const end = (how: string) => Deferred.doneUnsafe(ended, Effect.succeed({ how, failure }))
    child.on("message", (told: Worker.WorkerMessage) => {
      if ("failure" in told) failure = told.failure
      if ("ready" in told) Deferred.doneUnsafe(ready, Effect.void)
    })
    child.once("exit", (code, signal) => end(signal ? `killed by ${signal}` : `exit code ${code}`))
    // Where there is no process at all; what could not be told to one that ends is no matter.
    child.on("error", (error) => child.process.pid === undefined && end(error.message))
    return { child, ready, ended }
  })

/** One of the workers, whichever process it is. */
interface Slot {
  readonly number: number
  readonly ready: Latch.Latch
  readonly retired: Latch.Latch
}

const end = (slot: Slot, { child, ended }: Started): Effect.Effect<void> =>
  Effect.gen(function* () {
    if (slot.retired.isOpen() && child.isConnected()) child.send(Worker.retire)
    else child.process.kill("SIGTERM")
    yield* Effect.timeoutOrElse(Deferred.await(ended), {
      duration: endWithin,
      orElse: () =>
        Effect.logWarning("A worker did not end in time and is killed").pipe(
          Effect.andThen(Effect.sync(() => child.process.kill("SIGKILL"))),
          Effect.andThen(Deferred.await(ended))
        )
    })
  })

/** Keeps a worker there; fails where its first process never came to answer. */
const keep = (slot: Slot, port: number, metrics: WorkerMetrics.WorkerMetrics): Effect.Effect<never, CommandError> =>
  Effect.gen(function* () {
    let answered = false
    let failures = 0
    while (true) {
      yield* slot.retired.close
      const use = Effect.fnUntraced(function* ({ child, ended, ready }: Started) {
        const serving = Effect.gen(function* () {
          yield* Deferred.await(ready)
          yield* Effect.logInfo("A worker is ready").pipe(Effect.annotateLogs({ pid: child.process.pid }))
          answered = true
          yield* slot.ready.open
          const steady = Effect.delay(
            Effect.sync(() => (failures = 0)),
            steadyAfter
          )
          return yield* Effect.raceFirst(slot.retired.await, Effect.andThen(steady, Effect.never))
        })
        return yield* Effect.raceFirst(Deferred.await(ended), Effect.as(serving, undefined))
      })
      const ending = yield* Effect.acquireUseRelease(start({ number: slot.number, port }, metrics), use, (started) =>
        end(slot, started)
      )
      if (ending === undefined) continue
      yield* slot.ready.close
      const { failure, how } = ending
      if (!answered) {
        return yield* new CommandError({ message: failure ?? `Worker ${slot.number} ended at its start: ${how}` })
      }
      const wait = pause(failures++)
      yield* Effect.logWarning("A worker ended and is replaced").pipe(
        Effect.annotateLogs({ reason: failure ?? how, wait: `${wait} ms` })
      )
      yield* Effect.sleep(wait)
    }
  }).pipe(Effect.annotateLogs({ worker: slot.number }))

/** SIGHUP, but for that of a terminal, which says that it is closed: it ends the server. */
const hangups: Effect.Effect<Queue.Dequeue<void>, never, Scope.Scope> = Effect.gen(function* () {
  const queue = yield* Queue.sliding<void>(1)
  if (process.stderr.isTTY) return queue
  const offer = () => void Queue.offerUnsafe(queue, undefined)
  yield* Effect.acquireRelease(
    Effect.sync(() => process.on("SIGHUP", offer)),
    () => Effect.sync(() => process.off("SIGHUP", offer))
  )
  return queue
})

/** Puts a new process in the place of a worker's, and waits until it answers. */
const renew = (slot: Slot) => Effect.andThen(Effect.andThen(slot.ready.close, slot.retired.open), slot.ready.await)

export interface WorkersOptions<E> {
  readonly count: number
  readonly port: number
  /** Run when all of them answer. */
  readonly started: Effect.Effect<void, E>
}

/** Runs until it is interrupted, and ends when all of the workers have. */
export const run = <E>({ count, port, started }: WorkersOptions<E>): Effect.Effect<never, E | CommandError> =>
  Effect.gen(function* () {
    // They take connections themselves. Handed over, one on its way to a worker that is killed would never be answered.
    cluster.schedulingPolicy = cluster.SCHED_NONE
    const hangup = yield* hangups
    const metrics = yield* WorkerMetrics.make(count)
    const fibers = yield* FiberSet.make<never, CommandError>()
    const slots = Array.from({ length: count }, (_, n): Slot => {
      return { number: n + 1, ready: Latch.makeUnsafe(), retired: Latch.makeUnsafe() }
    })
    const first = Effect.fnUntraced(function* (slot: Slot) {
      yield* FiberSet.run(fibers, keep(slot, port, metrics))
      yield* Effect.raceFirst(slot.ready.await, FiberSet.join(fibers))
    })
    // One before the others: what keeps it from answering would keep them all.
    yield* first(slots[0]!)
    yield* Effect.forEach(slots.slice(1), first, { concurrency: "unbounded", discard: true })
    yield* started
    return yield* Queue.take(hangup).pipe(
      Effect.andThen(Effect.forEach(slots, renew, { discard: true })),
      Effect.forever
    )
  }).pipe(Effect.scoped)
