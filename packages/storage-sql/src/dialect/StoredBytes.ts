/** Columns of bytes. */
import type { SqlClient, Statement } from "effect/sql"
import * as Dialects from "./Dialects.ts"

/** The bytes of a column. */
export const value = (sql: SqlClient.SqlClient, column: string): Statement.Fragment =>
  sql.literal(Dialects.of(sql).bytes(column))

/** The bytes of a column, under the column's name. */
export const select = (sql: SqlClient.SqlClient, column: string): Statement.Fragment =>
  sql`${value(sql, column)} AS ${sql(column.slice(column.indexOf(".") + 1))}`
