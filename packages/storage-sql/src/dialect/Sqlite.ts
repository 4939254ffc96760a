/**
 * SQLite. It has one writer at a time, and no round trips to save. Without statistics its planner prefers to scan the project in the
 * order of ids, so statements name the index that they need.
 *
 * Its columns of bytes also keep text, which one changed bit in the head of a row makes of bytes. It is the same bytes then, and they
 * are read as such. But text is never equal to bytes, and comes before all of them in an index.
 */
import { Uuid } from "@tachograph/core"
import * as Effect from "effect/Effect"
import { type SqlClient, Statement } from "effect/sql"
import type { AtOnceClient } from "./AtOnce.ts"
import type { Value } from "./Columns.ts"
import type { Dialect, TableCheck } from "./Dialect.ts"
import { afterTime } from "./IdTime.ts"

/** It takes 32,766 parameters: https://sqlite.org/limits.html#max_variable_number */
const maxShortRows = 1_000

const bytes = (column: string): string => `CAST(${column} AS BLOB)`

const rows: Dialect["rows"] = (columns) => {
  const placeholders = `(${columns.map(() => "?").join(",")})`
  return (rows) => {
    const parameters: Array<Value> = []
    for (const row of rows) for (const { value } of columns) parameters.push(value(row))
    return Statement.fragment([
      Statement.literal(`VALUES ${Array.from(rows, () => placeholders).join(",")}`, parameters)
    ])
  }
}

export const make = (sql: SqlClient.SqlClient): Dialect => ({
  isSerial: true,
  // Written whenever a column of it is set.
  keepsUnchangedIndexes: false,
  canHoldText: true,
  types: { bytes: "BLOB", text: "TEXT" },
  toStoredId: Uuid.toBytes,
  maxShortRows,
  rows,
  rowsToInsert: rows,
  isAmong: (column, _type, values) => sql.in(column, values),
  rowsByName: <Row extends object>(
    { columns, isOfParent, lock, name, table }: Parameters<Dialect["rowsByName"]>[0],
    names: ReadonlyArray<Value>
  ) => sql<Row>`SELECT ${columns} FROM ${sql(table)} WHERE ${isOfParent} AND ${sql.in(name, names)} ${lock}`,
  bytes,
  // The client returns bytes that are alone in their memory, of any length.
  shortBytes: (column) => sql`${sql.literal(bytes(column))} AS ${sql(column)}`,
  // A hexadecimal number of JSON5, with a digit if there is no id.
  idMs: (id) => sql`(('0x0' || hex(substr(${id}, 1, 6))) ->> '$')`,
  firstIdOf: (ms) => sql`unhex(printf('%012x', max(0, ${ms})) || ${sql.literal(`'${afterTime}'`)})`,
  useIndex: (index) => `INDEXED BY ${index}`,
  noIndex: "NOT INDEXED",
  unindexed: (column) => `+${column}`,
  // It puts each of several queries in order itself.
  inOrder: (queries) => queries,
  joinEach: (table, alias, _columns, condition) =>
    sql`CROSS JOIN ${sql.literal(`${table} ${alias}`)} WHERE ${condition}`,
  changesInOneStatement: false,
  // A transaction excludes writers.
  beginSnapshot: Effect.void,
  waitUntilKept: Effect.suspend(() => (sql as AtOnceClient).flush),
  stripe: "0",
  tableCheck: tableCheck(sql)
})

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

/** Reads the whole table in one statement, which takes about a second for each GiB. */
const tableCheck = (sql: SqlClient.SqlClient): TableCheck => ({
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
    return columns.map(({ name }) => ({ column: name, values: counts![name] ?? 0 })).filter(({ values }) => values > 0)
  })
})
