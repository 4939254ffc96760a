/** Metrics of the storage's operations. */
import { ObservableMetrics } from "@tachograph/core"
import * as Cause from "effect/Cause"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Metric from "effect/Metric"
import type * as Scope from "effect/Scope"

/** Buckets in seconds, from a single-row read in SQLite to the operation timeout. */
const boundaries = [0.0001, 0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10]

const operationsGauge = Metric.gauge("tachograph_storage_operations", {
  description:
    "Operations in progress in the database; each holds a connection, waits for one, or keeps the place of one that a node has not given back"
})

const poolSize = Metric.gauge("tachograph_storage_pool_size", {
  description: "Maximum number of connections to the database"
})

const isFailure = (exit: Exit.Exit<unknown, unknown>): boolean =>
  Exit.isFailure(exit) &&
  exit.cause.reasons.some(
    (reason) =>
      Cause.isDieReason(reason) ||
      (Cause.isFailReason(reason) &&
        (reason.error as { readonly _tag?: unknown } | null)?._tag === "storage-unavailable")
  )

interface Timed {
  /** `started` is when it began, on the monotonic clock (ns): with the effect unless given. */
  <A, E, R>(effect: Effect.Effect<A, E, R>, started?: bigint): Effect.Effect<A, E, R>
  /** Counts an operation that has succeeded now. */
  readonly count: (started: bigint) => void
}

export interface StorageMetrics {
  /** Measures an operation as its caller sees it, and counts a failure of the database. Domain errors are not failures. */
  readonly timed: (operation: string) => Timed
  /** Counts an operation as in progress for as long as it may use a connection, which can be longer than its caller waits. */
  readonly tracked: <A, E, R>(effect: Effect.Effect<A, E, R>) => Effect.Effect<A, E, R>
}

/** Registers the gauges until the scope closes. */
export const make = Effect.fnUntraced(function* (
  connections: number
): Effect.fn.Return<StorageMetrics, never, Scope.Scope> {
  const context = yield* Effect.context<never>()
  const clock = yield* Clock.Clock
  let operations = 0
  yield* ObservableMetrics.show(
    ObservableMetrics.of(operationsGauge, () => ({ value: operations })),
    ObservableMetrics.of(poolSize, () => ({ value: connections }))
  )

  const release = () => {
    operations--
    return Effect.void
  }
  return {
    tracked: (effect) =>
      Effect.suspend(() => {
        operations++
        return Effect.onExit(effect, release)
      }),
    timed: (operation) => {
      const seconds = Metric.histogram("tachograph_storage_operation_seconds", {
        description: "Duration of an operation of the storage in seconds, including the wait for a connection",
        attributes: { operation },
        boundaries
      })
      const failures = Metric.counter("tachograph_storage_failures_total", {
        description: "Operations of the storage that failed because of the database, by operation",
        attributes: { operation },
        incremental: true
      })
      const count = (started: bigint, isFailed = false) => {
        seconds.updateUnsafe(Number(clock.monotonicTimeNanosUnsafe() - started) / 1e9, context)
        // Adds 0 on success too: the first failure is an increase only if the series exists before it.
        failures.updateUnsafe(isFailed ? 1 : 0, context)
      }
      const time = <A, E, R>(effect: Effect.Effect<A, E, R>, given?: bigint) =>
        Effect.suspend(() => {
          const started = given ?? clock.monotonicTimeNanosUnsafe()
          return Effect.onExit(effect, (exit) => {
            count(started, isFailure(exit))
            return Effect.void
          })
        })
      return Object.assign(time, { count: (started: bigint) => count(started) })
    }
  }
})
