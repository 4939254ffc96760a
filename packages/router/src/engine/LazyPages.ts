/** Pages that are loaded when they are first asked for. */
import { Errors } from "@tachograph/core"
import * as Cause from "effect/Cause"
import * as Effect from "effect/Effect"

/** What cannot be loaded now, for want of a file handle perhaps, can be asked for again. */
export const orOverloaded = <A, E>(loaded: Effect.Effect<A, E>): Effect.Effect<A, Errors.Overloaded> =>
  Effect.catchCause(loaded, (cause) =>
    Cause.hasInterruptsOnly(cause)
      ? Effect.failCause(cause as Cause.Cause<never>)
      : Effect.andThen(Effect.logWarning("A page cannot be loaded yet", cause), Effect.fail(new Errors.Overloaded()))
  )
