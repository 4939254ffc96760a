/** What is loaded when it is first needed. A failure is not remembered: who needs it next tries again. */
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"

/** Returns an effect that loads once. Those who need it at the same time share one attempt, which none of them ends by giving up. */
export const make = <A, E, R>(load: Effect.Effect<A, E, R>): Effect.Effect<Effect.Effect<A, E, R>> =>
  Effect.cachedWithTTL(Effect.uninterruptible(load), (exit) =>
    Exit.isSuccess(exit) ? Duration.infinity : Duration.zero
  )

/** Up to its version 22, Node never loads a module again that could not be loaded once. */
const remembersFailedImports = Number.parseInt(process.versions.node) <= 22

/** The same for a module, and where there would be no second attempt, it is loaded here and now. */
export const ofModule = Effect.fnUntraced(function* <A, E, R>(load: Effect.Effect<A, E, R>) {
  const loaded = yield* make(load)
  if (remembersFailedImports) yield* Effect.orDie(loaded)
  return loaded
})
