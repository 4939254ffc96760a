/**
 * The database's own check of a table and its indexes. SQLite has one; it reads the whole table in one statement, which takes
 * about a second for each GiB. Postgres has one only with an extension.
 */
import * as Effect from "effect/Effect"
import type { SqlClient, SqlError, Statement } from "effect/sql"

interface TableCheck {
  /** Selects the next name of a table after one. */
  readonly nextTable: (after: string) => Statement.Statement<{ readonly name: string }>
  /** Returns lines of text: a single `ok`, or what is wrong. */
  readonly check: (table: string) => Statement.Statement<{ readonly integrity_check: string }>
  /** How many values of each column have a type that the table does not declare for it. Reads the whole table, too. */
  readonly countOtherTypes: (
    table: string
  ) => Effect.Effect<ReadonlyArray<{ readonly column: string; readonly values: number }>, SqlError.SqlError>
}

/** What SQLite calls the types of the values that a column of a declared type has. A varchar has none of its own. */
const typeOf = (declared: string): string | undefined => {
  if (declared.startsWith("varchar")) return "text"
  const types: Readonly<Record<string, string>> = {
    BLOB: "blob",
    TEXT: "text",
    INTEGER: "integer",
    SMALLINT: "integer",
    REAL: "real"
  }
  return types[declared]
}

/** Undefined if the database has no such check. */
export const of = (sql: SqlClient.SqlClient): TableCheck | undefined =>
  sql.onDialectOrElse({
    sqlite: () => ({
      nextTable: (after) =>
        sql`SELECT name FROM sqlite_schema WHERE type = 'table' AND name > ${after} ORDER BY name LIMIT 1`,
      check: (table) => sql`PRAGMA integrity_check(${sql(table)})`,
      countOtherTypes: Effect.fnUntraced(function* (table) {
        const columns = (yield* sql<{ name: string; type: string }>`SELECT name, type FROM pragma_table_info(${table})`)
          .map(({ name, type }) => ({ name, type: typeOf(type) }))
          .filter((column) => column.type !== undefined)
        if (columns.length === 0) return []
        // SQLite itself reports a null that must not be one.
        const sums = columns.map(
          ({ name, type }) => sql`sum(typeof(${sql(name)}) NOT IN (${type!}, 'null')) AS ${sql(name)}`
        )
        const [counts] = yield* sql<Record<string, number | null>>`SELECT ${sql.csv(sums)} FROM ${sql(table)}`
        return columns
          .map(({ name }) => ({ column: name, values: counts![name] ?? 0 }))
          .filter(({ values }) => values > 0)
      })
    }),
    orElse: () => undefined
  })
