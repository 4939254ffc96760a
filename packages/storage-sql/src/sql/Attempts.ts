/** Bounds loops that would never end where an index is damaged. */
import { Damage } from "@tachograph/core"
import * as Effect from "effect/Effect"
import { SqlError } from "effect/sql"
import * as SqlFailure from "../SqlFailure.ts"

/** More than other transactions can cause. */
const maxAttempts = 100

/**
 * An effect to run whenever a loop gets no further, which another transaction may have caused. Fails as `storage-unavailable`
 * when it has run too often: then what the loop finds in an index leads to no row, or is not in order.
 */
export const make = (loop: string): Effect.Effect<void, SqlError.SqlError> => {
  let attemptsLeft = maxAttempts
  return Effect.suspend(() => (attemptsLeft-- > 0 ? Effect.void : Effect.fail(endless(loop))))
}

export const endless = (loop: string): SqlError.SqlError =>
  SqlFailure.make(
    SqlError.ConnectionError,
    "execute",
    new Damage(`${loop} gets no further: an index of the database is damaged`)
  )
