/** Spans on the hot path: created only if a tracer is installed. */
import * as Effect from "effect/Effect"
import * as Tracer from "effect/Tracer"

/** Effect's default tracer exports nothing, so a span for it is only overhead. */
export const isTraced: Effect.Effect<boolean> = Effect.withFiber((fiber) =>
  Effect.succeed(fiber.getRef(Tracer.Tracer) !== Tracer.nativeTracer)
)

export const spanIfTraced =
  (name: string) =>
  <A, E, R>(effect: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> =>
    Effect.flatMap(isTraced, (traced) => (traced ? (Effect.withSpan(effect, name) as Effect.Effect<A, E, R>) : effect))
