/** Metrics whose values are computed when they are collected, so that changes of the observed state cost nothing. */
import { type Context, Effect, Metric, type Scope } from "effect"

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
