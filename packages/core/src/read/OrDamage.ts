import * as Cause from "effect/Cause"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import { Damage } from "../payload/format/Damage.ts"

/** What an effect succeeds or dies with, if that is damage. */
export const orDamage = <A, E>(effect: Effect.Effect<A, E>): Effect.Effect<A | Damage, E> =>
  Effect.flatMap(Effect.exit(effect), (exit): Effect.Effect<A | Damage, E> => {
    if (Exit.isSuccess(exit)) return exit
    const defect = Cause.squash(exit.cause)
    // A text that is damaged, or whose pieces were erased, is no JSON.
    return defect instanceof Damage || defect instanceof SyntaxError ? Effect.succeed(Damage.of(defect)) : exit
  })
