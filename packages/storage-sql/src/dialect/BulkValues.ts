/**
 * The values of many rows as part of one statement. Postgres takes one array parameter per column, so that the statement's
 * text does not depend on the number of rows and stays prepared. Other databases take one parameter per value.
 */
import { type SqlClient, Statement } from "effect/sql"
import * as Bucket from "./Bucket.ts"

export type Type = "bigint" | "bytea" | "double precision" | "integer" | "smallint" | "uuid" | "varchar"

export type Value = number | string | Uint8Array | null

/** A column, and how its value is taken from a row. */
export interface Column<Row> {
  readonly type: Type
  readonly value: (row: Row) => Value
}

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

/** Rows in one statement, of less than 64 columns. SQLite takes 32,766 parameters: https://sqlite.org/limits.html#max_variable_number */
export const maxRows = 500

/**
 * The same for short rows, of which one event may bring 32,000. SQLite has no round trips to save. In a distributed database each
 * value is a parameter, of which the driver takes 32,767.
 */
export const maxShortRows = (sql: SqlClient.SqlClient): number =>
  sql.onDialectOrElse({ pg: () => (Bucket.isDistributed(sql) ? 10 : 20) * maxRows, orElse: () => 2 * maxRows })

export const chunks = <A>(rows: ReadonlyArray<A>, size = maxRows): ReadonlyArray<ReadonlyArray<A>> =>
  Array.from({ length: Math.ceil(rows.length / size) }, (_, n) => rows.slice(n * size, (n + 1) * size))

/** One row or more: `INSERT INTO t ${bulk.names} ${bulk.toInsert(rows)}`, or `WITH t ${bulk.names} AS (${bulk.of(rows)})`. */
export const make = <Row>(sql: SqlClient.SqlClient, columns: Columns<Row>) => {
  const all = Object.values(columns)
  const placeholders = `(${all.map(() => "?").join(",")})`

  const values = (rows: ReadonlyArray<Row>) => {
    const parameters: Array<Value> = []
    for (const row of rows) for (const { value } of all) parameters.push(value(row))
    return Statement.fragment([
      Statement.literal(`VALUES ${Array.from(rows, () => placeholders).join(",")}`, parameters)
    ])
  }
  /** The same for Postgres, whose placeholders have numbers. */
  const numberedValues = (rows: ReadonlyArray<Row>) =>
    sql`VALUES ${sql.csv(rows.map((row) => sql`(${sql.csv(all.map(({ value }) => sql`${value(row)}`))})`))}`
  const arrays = (rows: ReadonlyArray<Row>) =>
    sql`SELECT * FROM unnest(${sql.csv(
      all.map(({ type, value }) =>
        array(
          sql,
          type,
          rows.map((row) => value(row))
        )
      )
    )})`
  return {
    names: sql.literal(`(${Object.keys(columns).join(", ")})`),
    of: sql.onDialectOrElse({ pg: () => arrays, orElse: () => values }),
    /** A distributed database passes rows on to their nodes only if it sees them. */
    toInsert: sql.onDialectOrElse({
      pg: () => (Bucket.isDistributed(sql) ? numberedValues : arrays),
      orElse: () => values
    })
  }
}

/** True where a column has one of the values. */
export const isAmong = (
  sql: SqlClient.SqlClient,
  column: string,
  type: Type,
  values: ReadonlyArray<Value>
): Statement.Fragment =>
  sql.onDialectOrElse({
    pg: () => sql`${sql(column)} = ANY(${array(sql, type, values)})`,
    orElse: () => sql.in(column, values)
  })

/** Values as one parameter. Postgres only. */
export const array = (sql: SqlClient.SqlClient, type: Type, values: ReadonlyArray<Value>) =>
  sql`CAST(${isBytes(type, values) ? values : arrayText(values)} AS ${sql.literal(type)}[])`

/** The client takes no array of nulls alone. */
const isBytes = (type: Type, values: ReadonlyArray<Value>): boolean =>
  type === "bytea" && values.some((value) => value !== null)

/** An array as Postgres reads it, for any element type. https://www.postgresql.org/docs/current/arrays.html#ARRAYS-IO */
const arrayText = (values: ReadonlyArray<Value>): string =>
  `{${values.map((value) => (typeof value === "string" ? quoted(value) : (value ?? "NULL"))).join(",")}}`

/** Most text needs no escapes, and a search is faster than `replace`. */
const quoted = (text: string): string =>
  text.includes(`"`) || text.includes("\\") ? `"${text.replace(/["\\]/g, "\\$&")}"` : `"${text}"`
