/** Rebuilds indexes that do not have what is in their table's rows: SQLite refuses to change or delete such a row. */
import * as Effect from "effect/Effect"
import type { SqlClient, SqlError } from "effect/sql"

/** SQLITE_CORRUPT_INDEX: https://sqlite.org/rescode.html */
const corruptIndex = 779

const isIndexCorruption = (error: unknown): boolean => {
  const { reason } = error as { readonly reason?: { readonly cause?: { readonly errcode?: unknown } } }
  return reason?.cause?.errcode === corruptIndex
}

/** Repeats a transaction that failed because of them. Reads the tables whole, and blocks other writers meanwhile. */
export const repairing =
  (sql: SqlClient.SqlClient, tables: ReadonlyArray<string>) =>
  <A, E, R>(transaction: Effect.Effect<A, E | SqlError.SqlError, R>): Effect.Effect<A, E | SqlError.SqlError, R> =>
    Effect.catchIf(transaction, isIndexCorruption, (error) =>
      Effect.gen(function* () {
        for (const table of tables) yield* Effect.mapError(sql`REINDEX ${sql(table)}`, () => error)
        yield* Effect.logWarning(
          `The indexes of ${tables.join(", ")} did not have what is in the rows, and were rebuilt`
        )
        return yield* transaction
      })
    )
