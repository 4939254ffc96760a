/** Connections that run their statements at once, in the thread of the caller: SQLite's. */
import * as Effect from "effect/Effect"
import type { SqlClient, SqlConnection, SqlError } from "effect/sql"

/** Runs a statement, and returns its rows. Throws what the database says. */
export type RunAtOnce = (
  text: string,
  parameters: ReadonlyArray<unknown>
) => ReadonlyArray<Readonly<Record<string, unknown>>>

export interface AtOnceConnection extends SqlConnection.Connection {
  /** Commits what `body` does in a transaction of its own, unless it returns undefined. Calls it again while others hold the lock. */
  readonly transact: <A>(body: (run: RunAtOnce) => A | undefined) => Effect.Effect<A | undefined, SqlError.SqlError>
}

/** The same by a client of such connections. */
export const transact = <A>(
  sql: SqlClient.SqlClient,
  body: (run: RunAtOnce) => A | undefined
): Effect.Effect<A | undefined, SqlError.SqlError> =>
  Effect.scoped(Effect.flatMap(sql.reserve, (connection) => (connection as AtOnceConnection).transact(body)))
