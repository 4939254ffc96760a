/** Spans on the hot path: made where a tracer listens, and nothing at all where none does. */
import { Effect, Tracer } from "effect"

/** Effect's own tracer keeps what it is told for nobody. */
export const spanIfTraced =
  (name: string) =>
  <A, E, R>(effect: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> =>
    Effect.withFiber((fiber) =>
      fiber.getRef(Tracer.Tracer) === Tracer.nativeTracer
        ? effect
        : (Effect.withSpan(effect, name) as Effect.Effect<A, E, R>)
    )
