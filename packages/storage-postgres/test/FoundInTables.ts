/** What is in the tables of a schema, whichever they are. */
import { Effect } from "effect"
import type { SqlClient } from "effect/sql"
import { expect } from "vitest"

/** The columns, of any table, that contain a string as text or as bytes. */
export const foundIn = Effect.fnUntraced(function* (
  sql: SqlClient.SqlClient,
  schema: string,
  ...texts: ReadonlyArray<string>
) {
  const columns = yield* sql<{ table_name: string; column_name: string; data_type: string }>`
    SELECT table_name, column_name, data_type FROM information_schema.columns WHERE table_schema = ${schema}`
  expect(columns.length).toBeGreaterThan(50)
  const found: Array<string> = []
  for (const { column_name, data_type, table_name } of columns) {
    const column = sql(column_name)
    const isIn = sql.or(
      texts.map((text) =>
        data_type === "bytea"
          ? sql`position(convert_to(${text}, 'UTF8') in ${column}) > 0`
          : sql`position(${text} in CAST(${column} AS text)) > 0`
      )
    )
    const rows = yield* sql`SELECT 1 FROM ${sql(table_name)} WHERE ${isIn} LIMIT 1`
    if (rows.length > 0) found.push(`${table_name}.${column_name}`)
  }
  return found.sort()
})
