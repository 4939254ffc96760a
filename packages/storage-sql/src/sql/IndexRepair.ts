/**
 * Rebuilds what is derived from the rows of tables, where it is damaged: indexes that do not have what is in the rows, which SQLite
 * refuses to change, and those indexes, sums and counters whose pages are malformed.
 */
import * as Effect from "effect/Effect"
import type { SqlClient, SqlError } from "effect/sql"
import { isCorruption, isMalformed } from "./SqlErrors.ts"

/** SQLITE_CORRUPT_INDEX: https://sqlite.org/rescode.html */
const corruptIndex = 779

const isIndexCorruption = (error: unknown): boolean => {
  const { reason } = error as { readonly reason?: { readonly cause?: { readonly errcode?: unknown } } }
  return reason?.cause?.errcode === corruptIndex
}

/** Builds anew what is derived and malformed, and returns the names of it. */
export type Repair = Effect.Effect<ReadonlyArray<string>, SqlError.SqlError>

export interface Repairs {
  /** Repeats a transaction that failed because of them. Reads these tables whole, and blocks other writers meanwhile. */
  readonly repairing: (
    tables: ReadonlyArray<string>
  ) => <A, E, R>(transaction: Effect.Effect<A, E | SqlError.SqlError, R>) => Effect.Effect<A, E | SqlError.SqlError, R>
}

/** A repair leads to the next page that is malformed, at times. */
const maxRepairs = 10

export const make = (sql: SqlClient.SqlClient, repair: Repair): Repairs => {
  const reindex = Effect.fnUntraced(function* (tables: ReadonlyArray<string>) {
    for (const table of tables) yield* sql`REINDEX ${sql(table)}`
    yield* Effect.logWarning(`The indexes of ${tables.join(", ")} did not have what is in the rows, and were rebuilt`)
  })

  const rebuild = Effect.fnUntraced(function* (error: unknown) {
    const rebuilt = yield* repair
    if (rebuilt.length === 0) return yield* Effect.fail(error as SqlError.SqlError)
    yield* Effect.logWarning(`Pages of ${rebuilt.join(", ")} were malformed. They were derived anew from other tables`)
  })

  const repairing: Repairs["repairing"] = (tables) => (transaction) => {
    const attempt = (left: number): typeof transaction =>
      left === 0
        ? transaction
        : Effect.catchIf(
            transaction,
            (error) => isMalformed(error),
            (error) => {
              const byName = isIndexCorruption(error)
                ? Effect.catchIf(reindex(tables), isCorruption, () => rebuild(error))
                : rebuild(error)
              const repaired = Effect.catchIf(byName, isCorruption, () => Effect.fail(error as SqlError.SqlError))
              return Effect.andThen(
                repaired,
                Effect.suspend(() => attempt(left - 1))
              )
            }
          )
    return attempt(maxRepairs)
  }
  return { repairing }
}
