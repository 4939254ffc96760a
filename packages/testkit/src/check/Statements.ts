/** Counts the statements that an effect sends to a database: on a network, each of them is a round trip. */
import { Effect, Tracer } from "effect"

/** Returns the effect's value and the number of statements, by their spans; 0 for a storage without statements. */
export const count = Effect.fnUntraced(function* <A, E, R>(effect: Effect.Effect<A, E, R>) {
  let statements = 0
  const tracer = Tracer.make({
    span: (options) => {
      if (options.kind === "client") statements++
      return new Tracer.NativeSpan(options)
    }
  })
  const value = yield* Effect.provideService(effect, Tracer.Tracer, tracer)
  return [value, statements] as const
})
