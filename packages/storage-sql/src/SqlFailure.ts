/** The one place where a database's failures become the storage's. */
import { Errors } from "@tachograph/core"
import { Effect } from "effect"
import type { SqlError } from "effect/sql"

/** What may pass by itself: the database is away, busy, or chose this transaction to give way. */
const passing: ReadonlySet<SqlError.SqlErrorReason["_tag"]> = new Set([
  "ConnectionError",
  "AuthenticationError",
  "LockTimeoutError",
  "StatementTimeoutError",
  "DeadlockError",
  "SerializationError"
])

/** Anything else that a database says to our own statements is a fault of ours, and so a defect. */
export const translate = <A, E, R>(
  effect: Effect.Effect<A, E | SqlError.SqlError, R>
): Effect.Effect<A, Exclude<E, SqlError.SqlError> | Errors.StorageUnavailable, R> =>
  Effect.catchTag(effect as Effect.Effect<A, SqlError.SqlError, R>, "SqlError", (error) =>
    passing.has(error.reason._tag) ? Effect.fail(new Errors.StorageUnavailable({ cause: error })) : Effect.die(error)
  ) as Effect.Effect<A, Exclude<E, SqlError.SqlError> | Errors.StorageUnavailable, R>
