/** Metrics whose values are computed when they are collected, so that changes of the observed state cost nothing. */
import type * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Metric from "effect/Metric"
import type * as Scope from "effect/Scope"

type ObservableMetric = (context: Context.Context<never>) => Metric.Registration

export const of =
  <Input, State>(metric: Metric.Metric<Input, State>, get: () => State): ObservableMetric =>
  (context) =>
    Metric.registerUnsafe(metric, context, { get, update: () => {}, modify: () => {} })

/** Registers the metrics until the scope is closed. */
export const show = (...metrics: ReadonlyArray<ObservableMetric>): Effect.Effect<void, never, Scope.Scope> =>
  Effect.contextWith((context: Context.Context<Scope.Scope>) => {
    const registrations = metrics.map((metric) => metric(context))
    return Effect.addFinalizer(() => Effect.sync(() => registrations.forEach(({ remove }) => remove())))
  })
