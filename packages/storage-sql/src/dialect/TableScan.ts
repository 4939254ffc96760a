/** Makes a statement read a table without its indexes, but for the primary key. Postgres has no such hint. */
import type { SqlClient, Statement } from "effect/sql"

/** Follows the table's name. */
export const hint = (sql: SqlClient.SqlClient): Statement.Fragment =>
  sql.literal(sql.onDialectOrElse({ sqlite: () => "NOT INDEXED", orElse: () => "" }))
