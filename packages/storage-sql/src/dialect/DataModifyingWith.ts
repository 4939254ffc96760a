/** `WITH … AS (INSERT …)`: several changes in one statement, and so in one round trip. Only Postgres has it. */
import * as Effect from "effect/Effect"
import type { SqlClient, SqlError, Statement } from "effect/sql"
import * as Dialects from "./Dialects.ts"

/** Runs statements that return nothing and do not depend on each other: as one where the database can, else in order. */
export const asOneStatement = (
  sql: SqlClient.SqlClient,
  statements: ReadonlyArray<Statement.Statement<object>>
): Effect.Effect<void, SqlError.SqlError> => {
  if (!Dialects.of(sql).changesInOneStatement) return Effect.all(statements, { discard: true })
  const others = statements.slice(0, -1).map((each, n) => sql`${sql.literal(`s${n}`)} AS (${each})`)
  return Effect.asVoid(sql`WITH ${sql.csv(others)} ${statements.at(-1)!}`)
}
