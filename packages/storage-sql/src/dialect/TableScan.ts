/** Makes a statement read a table without its indexes, but for the primary key. Postgres has no such hint. */
import type { SqlClient, Statement } from "effect/sql"

/** Follows the table's name. */
export const hint = (sql: SqlClient.SqlClient): Statement.Fragment =>
  sql.literal(sql.onDialectOrElse({ sqlite: () => "NOT INDEXED", orElse: () => "" }))

/** A column that no index leads to, also where SQLite takes a unique index in spite of the hint. */
export const column = (sql: SqlClient.SqlClient, name: string): Statement.Fragment =>
  sql.literal(sql.onDialectOrElse({ sqlite: () => `+${name}`, orElse: () => name }))
