/**
 * The database's own check of a table and its indexes. SQLite has one; it reads the whole table in one statement, which takes
 * about a second for each GiB. Postgres has one only with an extension.
 */
import type { SqlClient, Statement } from "effect/sql"

interface TableCheck {
  /** Selects the next name of a table after one. */
  readonly nextTable: (after: string) => Statement.Statement<{ readonly name: string }>
  /** Returns lines of text: a single `ok`, or what is wrong. */
  readonly check: (table: string) => Statement.Statement<{ readonly integrity_check: string }>
}

/** Undefined if the database has no such check. */
export const of = (sql: SqlClient.SqlClient): TableCheck | undefined =>
  sql.onDialectOrElse({
    sqlite: () => ({
      nextTable: (after) =>
        sql`SELECT name FROM sqlite_schema WHERE type = 'table' AND name > ${after} ORDER BY name LIMIT 1`,
      check: (table) => sql`PRAGMA integrity_check(${sql(table)})`
    }),
    orElse: () => undefined
  })
