/** What is counted of a storage's operations. */
import { ObservableMetrics } from "@tachograph/core"
import { Cause, Effect, Exit, Metric, type Scope } from "effect"

/** Seconds. From what SQLite takes to read a row to what no operation's deadline allows. */
const boundaries = [0.0001, 0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10]

const underWay = Metric.gauge("tachograph_storage_operations", {
  description: "Operations under way in the database; each has one connection or waits for one"
})

const poolSize = Metric.gauge("tachograph_storage_pool_size", {
  description: "Connections to the database that there may be at once"
})

const isFailure = (exit: Exit.Exit<unknown, unknown>): boolean =>
  Exit.isFailure(exit) &&
  exit.cause.reasons.some(
    (reason) =>
      Cause.isDieReason(reason) ||
      (Cause.isFailReason(reason) &&
        (reason.error as { readonly _tag?: unknown } | null)?._tag === "storage-unavailable")
  )

export interface StorageMetrics {
  /** Times an operation as its caller sees it, and counts it where the database failed; a domain's refusal is no failure. */
  readonly timed: (operation: string) => <A, E, R>(effect: Effect.Effect<A, E, R>) => Effect.Effect<A, E, R>
  /** Around what uses a connection, which an operation whose caller has gone may hold for longer. */
  readonly held: <A, E, R>(effect: Effect.Effect<A, E, R>) => Effect.Effect<A, E, R>
}

/** Shows what is under way for as long as the scope is open. */
export const make = Effect.fnUntraced(function* (
  connections: number
): Effect.fn.Return<StorageMetrics, never, Scope.Scope> {
  const context = yield* Effect.context<never>()
  let operations = 0
  yield* ObservableMetrics.show(
    ObservableMetrics.of(underWay, () => ({ value: operations })),
    ObservableMetrics.of(poolSize, () => ({ value: connections }))
  )

  const release = () => {
    operations--
    return Effect.void
  }
  return {
    held: (effect) =>
      Effect.suspend(() => {
        operations++
        return Effect.onExit(effect, release)
      }),
    timed: (operation) => {
      const seconds = Metric.histogram("tachograph_storage_operation_seconds", {
        description: "Seconds that an operation of the storage took, waiting for a connection included",
        attributes: { operation },
        boundaries
      })
      const failures = Metric.counter("tachograph_storage_failures_total", {
        description: "Operations of the storage in which the database failed, by operation",
        attributes: { operation },
        incremental: true
      })
      return (effect) =>
        Effect.clockWith((clock) => {
          const started = clock.monotonicTimeNanosUnsafe()
          return Effect.onExit(effect, (exit) => {
            seconds.updateUnsafe(Number(clock.monotonicTimeNanosUnsafe() - started) / 1e9, context)
            // With 0 too: a first failure shows as an increase only where there was a number before it.
            failures.updateUnsafe(isFailure(exit) ? 1 : 0, context)
            return Effect.void
          })
        })
    }
  }
})
