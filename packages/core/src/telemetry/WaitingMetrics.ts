/**
 * How many parts of events wait. The parts of a storage are counted by the one process that finishes them, as the values of several workers
 * are added up: it runs `count` from time to time, and `clear` when another process takes over.
 */
import * as Effect from "effect/Effect"
import * as Metric from "effect/Metric"
import type * as Scope from "effect/Scope"
import * as ObservableMetrics from "./ObservableMetrics.ts"

const waiting = Metric.gauge("tachograph_otlp_waiting", {
  description:
    "Spans and logs of OpenTelemetry that wait for what they belong to; 0 in processes that do not finish them"
})

interface WaitingMetrics<E> {
  readonly count: Effect.Effect<void, E>
  readonly clear: Effect.Effect<void>
  /** What was counted last. */
  readonly value: () => number
}

/** Registers the gauge until the scope closes. `countWaiting` is that of the storage. */
export const make = Effect.fnUntraced(function* <E>(
  countWaiting: Effect.Effect<number, E>
): Effect.fn.Return<WaitingMetrics<E>, never, Scope.Scope> {
  let parts = 0
  const set = (value: number) =>
    Effect.sync(() => {
      parts = value
    })
  yield* ObservableMetrics.show(ObservableMetrics.of(waiting, () => ({ value: parts })))
  return { count: Effect.flatMap(countWaiting, set), clear: set(0), value: () => parts }
})
