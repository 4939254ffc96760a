/** Metrics whose values are read when somebody asks for them: changing what they show costs nothing. */
import { type Context, Effect, Metric, type Scope } from "effect"

type Shown = (context: Context.Context<never>) => Metric.Registration

export const of =
  <Input, State>(metric: Metric.Metric<Input, State>, get: () => State): Shown =>
  (context) =>
    Metric.registerUnsafe(metric, context, { get, update: () => {}, modify: () => {} })

/** Shows them for as long as the scope is open. */
export const show = (...metrics: ReadonlyArray<Shown>): Effect.Effect<void, never, Scope.Scope> =>
  Effect.contextWith((context: Context.Context<Scope.Scope>) => {
    const registrations = metrics.map((metric) => metric(context))
    return Effect.addFinalizer(() => Effect.sync(() => registrations.forEach(({ remove }) => remove())))
  })
