/** Several processes that share one port. This process, the primary, starts them, replaces those that exit and ends them. */
import * as Deferred from "effect/Deferred"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as FiberSet from "effect/FiberSet"
import * as Latch from "effect/Latch"
import * as Option from "effect/Option"
import * as Queue from "effect/Queue"
import type * as Scope from "effect/Scope"
import cluster, { type Worker as Child } from "node:cluster"
import { availableParallelism } from "node:os"
import { CommandError, UsageError } from "../terminal/CliErrors.ts"
import * as Setting from "../config/Setting.ts"
import type { StorageChoice } from "../config/StorageChoice.ts"
import * as Worker from "./Worker.ts"
import * as WorkerMetrics from "./WorkerMetrics.ts"

/** Upper bound: each worker needs its own memory and database connections. */
const maxWorkers = 64

const parseCount = (text: string): number => {
  if (text === "auto") return Math.min(availableParallelism(), maxWorkers)
  return /^\d{1,2}$/.test(text) ? Number(text) : 0
}

export const setting = Setting.make({
  name: "workers",
  metavar: "COUNT|auto",
  description: "Processes that serve requests, over Postgres; auto is one per core",
  default: "1",
  expected: `a number from 1 to ${maxWorkers}, or auto`,
  parse: (text) => Option.filter(Option.some(parseCount(text)), (count) => count >= 1 && count <= maxWorkers)
})

/** Fails if the storage does not support that many processes. */
export const check = (count: number, { singleProcessReason }: StorageChoice): Effect.Effect<void, UsageError> => {
  if (count === 1 || singleProcessReason === undefined) return Effect.void
  const message = `Cannot run ${count} workers: ${singleProcessReason}; omit --workers, or use Postgres`
  return Effect.fail(new UsageError({ message }))
}

/** How long an exiting worker may take to finish its requests and close its storage before SIGKILL. */
const exitTimeout = Duration.seconds(15)

/** After this time (ms) a worker counts as started: the restart delay is reset. */
const stableAfterMs = 10_000

/** How long to wait before a failed worker is replaced (ms): doubles with each failure in a row. */
const restartDelayMs = (failures: number) => (failures === 0 ? 0 : Math.min(100 * 2 ** (failures - 1), 5_000))

interface WorkerExit {
  /** The exit code or the signal. */
  readonly description: string
  /** The worker's own error message, if it sent one. */
  readonly failure: string | undefined
}

interface WorkerProcess {
  readonly child: Child
  readonly ready: Deferred.Deferred<void>
  readonly exited: Deferred.Deferred<WorkerExit>
}

const start = (assignment: Worker.Assignment, metrics: WorkerMetrics.WorkerMetrics): Effect.Effect<WorkerProcess> =>
  Effect.sync(() => {
    const child = cluster.fork(Worker.environment(assignment))
    metrics.add(child)
    const ready = Deferred.makeUnsafe<void>()
    const exited = Deferred.makeUnsafe<WorkerExit>()
    let failure: string | undefined
    const exit = (description: string) => Deferred.doneUnsafe(exited, Effect.succeed({ description, failure }))
    child.on("message", (message: Worker.WorkerMessage) => {
      if (message.type === "failed") failure = message.message
      if (message.type === "ready") Deferred.doneUnsafe(ready, Effect.void)
    })
    child.once("exit", (code, signal) => exit(signal ? `killed by ${signal}` : `exit code ${code}`))
    // Without a pid the process could not be started. Other errors concern messages to a process that is exiting.
    child.on("error", (error) => child.process.pid === undefined && exit(error.message))
    return { child, ready, exited }
  })

/** A worker's number and state, which outlive its process. */
interface Slot {
  readonly number: number
  /** Open while the worker accepts requests. */
  readonly ready: Latch.Latch
  /** Open when the worker's process is to be replaced. */
  readonly retired: Latch.Latch
}

const stop = (slot: Slot, { child, exited }: WorkerProcess): Effect.Effect<void> =>
  Effect.gen(function* () {
    if (slot.retired.isOpen() && child.isConnected()) child.send({ type: "retire" } satisfies Worker.PrimaryMessage)
    else child.process.kill("SIGTERM")
    yield* Effect.timeoutOrElse(Deferred.await(exited), {
      duration: exitTimeout,
      orElse: () =>
        Effect.logWarning("A worker did not exit in time and is killed").pipe(
          Effect.andThen(Effect.sync(() => child.process.kill("SIGKILL"))),
          Effect.andThen(Deferred.await(exited))
        )
    })
  })

/** Keeps one worker running. Fails if its first process exits before it accepts requests. */
const supervise = (
  slot: Slot,
  port: number,
  metrics: WorkerMetrics.WorkerMetrics
): Effect.Effect<never, CommandError> =>
  Effect.gen(function* () {
    let hasStarted = false
    let failures = 0
    while (true) {
      yield* slot.retired.close
      const use = Effect.fnUntraced(function* ({ child, exited, ready }: WorkerProcess) {
        const serving = Effect.gen(function* () {
          yield* Deferred.await(ready)
          yield* Effect.logInfo("A worker is ready").pipe(Effect.annotateLogs({ pid: child.process.pid }))
          hasStarted = true
          yield* slot.ready.open
          const stable = Effect.delay(
            Effect.sync(() => (failures = 0)),
            stableAfterMs
          )
          return yield* Effect.raceFirst(slot.retired.await, Effect.andThen(stable, Effect.never))
        })
        return yield* Effect.raceFirst(Deferred.await(exited), Effect.as(serving, undefined))
      })
      const exit = yield* Effect.acquireUseRelease(start({ number: slot.number, port }, metrics), use, (started) =>
        stop(slot, started)
      )
      if (exit === undefined) continue
      yield* slot.ready.close
      const { description, failure } = exit
      if (!hasStarted) {
        return yield* new CommandError({
          message: failure ?? `Worker ${slot.number} exited during startup: ${description}`
        })
      }
      const delayMs = restartDelayMs(failures++)
      yield* Effect.logWarning("A worker exited and is replaced").pipe(
        Effect.annotateLogs({ reason: failure ?? description, wait: `${delayMs} ms` })
      )
      yield* Effect.sleep(delayMs)
    }
  }).pipe(Effect.annotateLogs({ worker: slot.number }))

/** SIGHUP signals. None on a terminal, where SIGHUP means that the terminal closes and the server shuts down. */
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

/** Replaces a worker's process and waits until the new one accepts requests. */
const renew = (slot: Slot) => Effect.andThen(Effect.andThen(slot.ready.close, slot.retired.open), slot.ready.await)

export interface WorkersOptions<E> {
  readonly count: number
  readonly port: number
  /** Runs when all workers accept requests. */
  readonly started: Effect.Effect<void, E>
}

/** Runs until it is interrupted, and returns when all workers have exited. */
export const run = <E>({ count, port, started }: WorkersOptions<E>): Effect.Effect<never, E | CommandError> =>
  Effect.gen(function* () {
    // Workers accept connections themselves. A connection that the primary hands over is lost if the worker is killed.
    cluster.schedulingPolicy = cluster.SCHED_NONE
    const hangup = yield* hangups
    const metrics = yield* WorkerMetrics.make(count)
    const fibers = yield* FiberSet.make<never, CommandError>()
    const slots = Array.from({ length: count }, (_, n): Slot => {
      return { number: n + 1, ready: Latch.makeUnsafe(), retired: Latch.makeUnsafe() }
    })
    const startSlot = Effect.fnUntraced(function* (slot: Slot) {
      yield* FiberSet.run(fibers, supervise(slot, port, metrics))
      yield* Effect.raceFirst(slot.ready.await, FiberSet.join(fibers))
    })
    // One before the others: an error that stops every worker is reported once.
    yield* startSlot(slots[0]!)
    yield* Effect.forEach(slots.slice(1), startSlot, { concurrency: "unbounded", discard: true })
    yield* started
    return yield* Queue.take(hangup).pipe(
      Effect.andThen(Effect.forEach(slots, renew, { discard: true })),
      Effect.forever
    )
  }).pipe(Effect.scoped)
