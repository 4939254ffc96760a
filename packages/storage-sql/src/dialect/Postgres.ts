/**
 * Postgres, which has many writers. It takes one array parameter per column, so that the text of a statement does not depend on the number
 * of rows and stays prepared. It cannot estimate the length of an array, or how many rows are in a range that another row says: for many
 * it would rather read the whole table. So it is made to look each of them up, by lateral joins.
 *
 * Its indexes of events begin with nulls, of which their columns have none: only they have the order that a statement asks for, not the
 * primary key. There are no hints.
 */
import * as Effect from "effect/Effect"
import type { SqlClient } from "effect/sql"
import type { Type, Value } from "./Columns.ts"
import type { Dialect, Selection } from "./Dialect.ts"
import { afterTime } from "./IdTime.ts"

/** In Postgres each connection has a stripe of its own, or shares one with few others. */
const maxStripes = 64

export const make = (sql: SqlClient.SqlClient): Dialect => {
  const array = (type: Type, values: ReadonlyArray<Value>) =>
    sql`CAST(${isBytes(type, values) ? values : arrayText(values)} AS ${sql.literal(type)}[])`
  const rows: Dialect["rows"] = (columns) => (rows) =>
    sql`SELECT * FROM unnest(${sql.csv(
      columns.map(({ type, value }) =>
        array(
          type,
          rows.map((row) => value(row))
        )
      )
    )})`

  return {
    isSerial: false,
    keepsUnchangedIndexes: true,
    canHoldText: false,
    types: { bytes: "bytea", text: "varchar" },
    toStoredId: (id) => id,
    maxShortRows: 10_000,
    rows,
    rowsToInsert: rows,
    isAmong: (column, type, values) => sql`${sql(column)} = ANY(${array(type, values)})`,
    rowsByName: <Row extends object>(
      { columns, isOfParent, lock, name, table, type }: Selection,
      names: ReadonlyArray<Value>
    ) => sql<Row>`
      SELECT matching.* FROM unnest(${array(type, names)}) AS wanted (name) CROSS JOIN LATERAL (
        SELECT ${columns} FROM ${sql(table)} WHERE ${isOfParent} AND ${sql(name)} = wanted.name LIMIT 1 ${lock}) AS matching`,
    bytes: (column) => column,
    shortBytes: (column, maxBytes) =>
      sql`CASE WHEN octet_length(${sql(column)}) <= ${maxBytes} THEN ${sql(column)} END AS ${sql(column)}`,
    idMs: (id) => sql`('x' || left(replace(CAST(${id} AS text), '-', ''), 12))::bit(48)::bigint`,
    firstIdOf: (ms) => sql`CAST(lpad(to_hex(greatest(0, ${ms})), 12, '0') || ${sql.literal(`'${afterTime}'`)} AS uuid)`,
    useIndex: () => "",
    noIndex: "",
    unindexed: (column) => column,
    // It merges only what is in order already.
    inOrder: (queries, ending) => queries.map((query) => sql`SELECT * FROM (${query} ${ending}) AS range`),
    joinEach: (table, alias, columns, condition) =>
      // Without OFFSET the subselect would become an ordinary join.
      sql`CROSS JOIN LATERAL (SELECT ${columns} FROM ${sql.literal(`${table} ${alias}`)} WHERE ${condition}
        OFFSET 0) ${sql.literal(alias)}`,
    changesInOneStatement: true,
    // It excludes no writers; with Citus each node has a state of its own.
    beginSnapshot: Effect.asVoid(sql`SET TRANSACTION ISOLATION LEVEL REPEATABLE READ, READ ONLY`),
    // Only a transaction that writes waits: this one writes to the log only.
    waitUntilKept: Effect.asVoid(sql`SELECT CASE WHEN current_setting('synchronous_standby_names') <> ''
      THEN CAST(pg_logical_emit_message(true, 'tachograph', '') AS text) END AS position`),
    stripe: `pg_backend_pid() % ${maxStripes}`,
    tableCheck: undefined
  }
}

/** Distributed over several nodes. It passes rows and look-ups on to them only if it sees their values. */
export const distributed = (sql: SqlClient.SqlClient): Dialect => {
  const postgres = make(sql)
  return {
    ...postgres,
    // Each value is a parameter, of which the driver takes 32,767.
    maxShortRows: 5_000,
    rowsToInsert: (columns) => (rows) =>
      sql`VALUES ${sql.csv(rows.map((row) => sql`(${sql.csv(columns.map(({ value }) => sql`${value(row)}`))})`))}`,
    rowsByName: <Row extends object>(
      { columns, isOfParent, lock, name, table, type }: Selection,
      names: ReadonlyArray<Value>
    ) => sql<Row>`SELECT ${columns} FROM ${sql(table)} WHERE ${isOfParent}
      AND ${postgres.isAmong(name, type, names)} ${lock}`,
    // It would run each part by itself, and pass its result around.
    changesInOneStatement: false
  }
}

/** The client takes no array of nulls alone. */
const isBytes = (type: Type, values: ReadonlyArray<Value>): boolean =>
  type === "bytea" && values.some((value) => value !== null)

/** An array as Postgres reads it, for any element type. https://www.postgresql.org/docs/current/arrays.html#ARRAYS-IO */
const arrayText = (values: ReadonlyArray<Value>): string =>
  `{${values.map((value) => (typeof value === "string" ? quoted(value) : (value ?? "NULL"))).join(",")}}`

/** Most text needs no escapes, and a search is faster than `replace`. */
const quoted = (text: string): string =>
  text.includes(`"`) || text.includes("\\") ? `"${text.replace(/["\\]/g, "\\$&")}"` : `"${text}"`
