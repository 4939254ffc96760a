/** Rows that are not what was written: an error of the storage. */
import { Damage } from "@tachograph/core"
import * as Effect from "effect/Effect"
import { SqlError } from "effect/sql"
import * as SqlFailure from "../SqlFailure.ts"

/** What throws `Damage` fails with it. */
export const readable = <A>(read: () => A): Effect.Effect<A, SqlError.SqlError> =>
  Effect.try({
    try: read,
    catch: (error) => SqlFailure.make(SqlError.ConnectionError, "execute", Damage.of(error))
  })

/** Whether rows are not what was written. The database itself may find more damage, after which a transaction cannot go on. */
export const isDamage = ({ reason }: SqlError.SqlError): boolean => reason.cause instanceof Damage
