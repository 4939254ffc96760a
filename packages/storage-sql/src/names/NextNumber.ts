/** Rows that take the number after the highest one, without a lock: the loser of a race gets a unique violation and reads again. */
import * as Effect from "effect/Effect"
import type { SqlClient, SqlError } from "effect/sql"
import * as Bucket from "../dialect/Bucket.ts"

interface Table {
  readonly table: string
  /** The columns of the number and of the name. */
  readonly number: string
  readonly name: string
}

/**
 * Inserts a name unless it exists, or another one takes its number at the same time. In a distributed database a name may get two
 * numbers, unless the table forbids it. Do not call it in a transaction.
 */
export const insert = (
  sql: SqlClient.SqlClient,
  { name, number, table }: Table,
  value: string
): Effect.Effect<void, SqlError.SqlError> => {
  const next = sql`SELECT coalesce(max(${sql(number)}), 0) + 1 AS next`
  const into = sql`INSERT INTO ${sql(table)} (${sql(number)}, ${sql(name)})`
  // In a distributed database, one statement that reads and writes a table of all nodes would lock them in no particular order.
  const inserted = Bucket.isDistributed(sql)
    ? Effect.flatMap(
        sql<{ next: number }>`${next} FROM ${sql(table)}`,
        ([row]) => sql`${into} VALUES (${row!.next}, ${value})`
      )
    : // A transaction that does not see the other's name does not see its number either, so that no name gets two.
      sql`${into} ${next}, ${value} FROM ${sql(table)} HAVING count(*) FILTER (WHERE ${sql(name)} = ${value}) = 0`
  return Effect.asVoid(
    Effect.catchIf(
      inserted,
      ({ reason }) => reason._tag === "UniqueViolation",
      () => Effect.void
    )
  )
}
