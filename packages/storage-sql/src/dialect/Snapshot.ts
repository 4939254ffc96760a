/** Reads of several statements that see one state of the database, whatever others commit meanwhile. */
import * as Effect from "effect/Effect"
import type { SqlClient, SqlError } from "effect/sql"

/** In SQLite a transaction excludes writers. In Postgres it excludes none; with Citus each node has a state of its own. */
export const within = <A, E>(
  sql: SqlClient.SqlClient,
  read: Effect.Effect<A, E>
): Effect.Effect<A, E | SqlError.SqlError> => {
  const begin = sql.onDialectOrElse({
    pg: () => Effect.asVoid(sql`SET TRANSACTION ISOLATION LEVEL REPEATABLE READ, READ ONLY`),
    orElse: () => Effect.void
  })
  return sql.withTransaction(Effect.andThen(begin, read))
}
