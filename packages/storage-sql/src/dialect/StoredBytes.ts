/**
 * Columns of bytes. SQLite also keeps text in them, which one changed bit in the head of a row makes of bytes. It is the same
 * bytes then, and they are read as such. But text is never equal to bytes, and comes before all of them in an index.
 */
import type { SqlClient, Statement } from "effect/sql"

/** The bytes of a column. */
export const value = (sql: SqlClient.SqlClient, column: string): Statement.Fragment =>
  sql.literal(sql.onDialectOrElse({ pg: () => column, orElse: () => `CAST(${column} AS BLOB)` }))

/** The bytes of a column, under the column's name. */
export const select = (sql: SqlClient.SqlClient, column: string): Statement.Fragment =>
  sql`${value(sql, column)} AS ${sql(column.slice(column.indexOf(".") + 1))}`

/** Whether a column can hold text. */
export const canBeText = (sql: SqlClient.SqlClient): boolean =>
  sql.onDialectOrElse({ pg: () => false, orElse: () => true })
