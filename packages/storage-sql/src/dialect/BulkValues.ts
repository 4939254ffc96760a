/**
 * The values of many rows as part of one statement. Postgres takes one array parameter per column, so that the statement's
 * text does not depend on the number of rows and stays prepared. Other databases take one parameter per value.
 */
import type { SqlClient, Statement } from "effect/sql"
import type { Column, Type, Value } from "./Columns.ts"
import * as Dialects from "./Dialects.ts"

export type { Column, Type, Value }

/** By the columns' names. */
export type Types = Readonly<Record<string, Type>>
export type Columns<Row> = Readonly<Record<string, Column<Row>>>

export type Row<Name extends string> = Readonly<Record<Name, Value>>

/** Columns whose values are the row's properties of the same names. */
export const named = <Name extends string>(
  types: Readonly<Record<Name, Type>>
): Readonly<Record<Name, Column<Row<Name>>>> =>
  Object.fromEntries(
    Object.entries<Type>(types).map(([name, type]) => [name, { type, value: (row: Row<Name>) => row[name as Name] }])
  ) as Record<Name, Column<Row<Name>>>

/** Rows in one statement, of less than 64 columns. */
export const maxRows = 500

/** The same for short rows, of which one event may bring 32,000. */
export const maxShortRows = (sql: SqlClient.SqlClient): number => Dialects.of(sql).maxShortRows

export const chunks = <A>(rows: ReadonlyArray<A>, size = maxRows): ReadonlyArray<ReadonlyArray<A>> =>
  Array.from({ length: Math.ceil(rows.length / size) }, (_, n) => rows.slice(n * size, (n + 1) * size))

/** One row or more: `INSERT INTO t ${bulk.names} ${bulk.toInsert(rows)}`, or `WITH t ${bulk.names} AS (${bulk.of(rows)})`. */
export const make = <Row>(sql: SqlClient.SqlClient, columns: Columns<Row>) => {
  const dialect = Dialects.of(sql)
  const all = Object.values(columns)
  return {
    names: sql.literal(`(${Object.keys(columns).join(", ")})`),
    of: dialect.rows(all),
    toInsert: dialect.rowsToInsert(all)
  }
}

/** A statement of which only the values differ, for one row at a time. */
export interface OfOneRow<Row> {
  readonly text: string
  readonly values: (row: Row) => ReadonlyArray<Value>
}

/** The statement may have no other parameters than the row's values. */
export const ofOneRow = <Row>(
  sql: SqlClient.SqlClient,
  columns: Columns<Row>,
  statementOf: (row: Statement.Fragment, names: Statement.Fragment) => Statement.Statement<unknown>
): OfOneRow<Row> => {
  const all = Object.values(columns)
  const blank = Object.fromEntries(
    Object.entries(columns).map(([name, { type }]) => [name, { type, value: () => null }])
  )
  const { names, toInsert } = make<null>(sql, blank)
  const [text] = statementOf(toInsert([null]), names).compile()
  return { text, values: (row) => all.map(({ value }) => value(row)) }
}

/** True where a column has one of the values. */
export const isAmong = (
  sql: SqlClient.SqlClient,
  column: string,
  type: Type,
  values: ReadonlyArray<Value>
): Statement.Fragment => Dialects.of(sql).isAmong(column, type, values)
