/** Rebuilds indexes of SQLite that do not have what is in the rows: it refuses to change them, and so to erase these rows. */
import * as Effect from "effect/Effect"
import type { SqlClient, SqlError } from "effect/sql"
import { isCorruption, isMalformed } from "./SqlErrors.ts"

/** SQLITE_CORRUPT_INDEX: https://sqlite.org/rescode.html */
const corruptIndex = 779

const isIndexCorruption = (error: unknown): error is SqlError.SqlError =>
  isMalformed(error) && (error.reason.cause as { readonly errcode?: unknown } | undefined)?.errcode === corruptIndex

export interface Repairs {
  /** Repeats a transaction that failed because of them. Reads these tables whole, and blocks other writers meanwhile. */
  readonly repairing: (
    tables: ReadonlyArray<string>
  ) => <A, E, R>(transaction: Effect.Effect<A, E | SqlError.SqlError, R>) => Effect.Effect<A, E | SqlError.SqlError, R>
}

export const make = (sql: SqlClient.SqlClient): Repairs => {
  const reindex = Effect.fnUntraced(function* (tables: ReadonlyArray<string>) {
    for (const table of tables) yield* sql`REINDEX ${sql(table)}`
    yield* Effect.logWarning(`The indexes of ${tables.join(", ")} did not have what is in the rows, and were rebuilt`)
  })

  const repairing: Repairs["repairing"] = (tables) => (transaction) =>
    Effect.catchIf(transaction, isIndexCorruption, (error) => {
      // What SQLite cannot rebuild is malformed, which the first error says, too.
      const rebuilt = Effect.catchIf(reindex(tables), isCorruption, () => Effect.fail(error))
      return Effect.andThen(rebuilt, transaction)
    })
  return { repairing }
}
