/** Errors of the database that this program finds itself. */
import { SqlError } from "effect/sql"

interface Fields {
  readonly cause: Error
  readonly message: string
  readonly operation: string
}

/** `Reason` is a class of `SqlError`, such as `ConnectionError` for what may succeed later. The cause may be only its message. */
export const make = (
  Reason: new (fields: Fields) => SqlError.SqlErrorReason,
  operation: string,
  cause: Error | string
): SqlError.SqlError => {
  const error = typeof cause === "string" ? new Error(cause) : cause
  return new SqlError.SqlError({ reason: new Reason({ cause: error, message: error.message, operation }) })
}
