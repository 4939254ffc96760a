/**
 * Joins the rows of a table that belong to each row before it, in this order. Postgres cannot guess how many rows are in a range that
 * another row says, and would rather read all rows of the table.
 */
import type { SqlClient, Statement } from "effect/sql"

/** Ends a statement: `SELECT … FROM ranges ${EachRow.join(sql, "rollups", "r", columns, condition)}`. */
export const join = (
  sql: SqlClient.SqlClient,
  table: string,
  alias: string,
  columns: Statement.Fragment,
  condition: Statement.Fragment
): Statement.Fragment => {
  const rows = sql.literal(`${table} ${alias}`)
  return sql.onDialectOrElse({
    // Without OFFSET the subselect would become an ordinary join.
    pg: () =>
      sql`CROSS JOIN LATERAL (SELECT ${columns} FROM ${rows} WHERE ${condition} OFFSET 0) ${sql.literal(alias)}`,
    orElse: () => sql`CROSS JOIN ${rows} WHERE ${condition}`
  })
}
