/**
 * `WITH … AS (INSERT …)`: several changes in one statement, and so in one round trip. Only Postgres has it. A distributed database
 * would run each part by itself, and pass its result around.
 */
import * as Effect from "effect/Effect"
import type { SqlClient, SqlError, Statement } from "effect/sql"
import * as Bucket from "./Bucket.ts"

export const isSupported = (sql: SqlClient.SqlClient): boolean =>
  sql.onDialectOrElse({ pg: () => !Bucket.isDistributed(sql), orElse: () => false })

/** Runs statements that return nothing and do not depend on each other: as one where the database can, else in order. */
export const asOneStatement = (
  sql: SqlClient.SqlClient,
  statements: ReadonlyArray<Statement.Statement<object>>
): Effect.Effect<void, SqlError.SqlError> => {
  if (!isSupported(sql)) return Effect.all(statements, { discard: true })
  const others = statements.slice(0, -1).map((each, n) => sql`${sql.literal(`s${n}`)} AS (${each})`)
  return Effect.asVoid(sql`WITH ${sql.csv(others)} ${statements.at(-1)!}`)
}
