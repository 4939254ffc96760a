/** Makes bytes again of text that damage has put into a key: no statement that names the bytes would find its row. */
import * as Effect from "effect/Effect"
import type { SqlClient, SqlError, Statement } from "effect/sql"
import * as Dialects from "../dialect/Dialects.ts"
import * as StoredBytes from "../dialect/StoredBytes.ts"
import { isCorruption } from "./SqlErrors.ts"

interface Key {
  readonly table: string
  /** A key or an index of the table has it after the columns of `isOfParent`. */
  readonly column: string
  readonly isOfParent: Statement.Fragment
}

/** In a transaction. Costs one look-up if there is nothing to repair. */
export const repair = (
  sql: SqlClient.SqlClient,
  { column, isOfParent, table }: Key
): Effect.Effect<void, SqlError.SqlError> => {
  if (!Dialects.of(sql).canHoldText) return Effect.void
  const toBytes = sql`UPDATE OR REPLACE ${sql(table)} SET ${sql(column)} = ${StoredBytes.value(sql, column)}
    WHERE ${isOfParent} AND ${sql(column)} < x''`
  // The other indexes still have the bytes, if only the row has changed.
  const again = Effect.andThen(sql`REINDEX ${sql(table)}`, toBytes)
  return Effect.asVoid(Effect.catchIf(toBytes, isCorruption, () => again))
}
