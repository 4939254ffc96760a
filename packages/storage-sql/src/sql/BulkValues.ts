/**
 * Values of many rows as one part of a statement. To Postgres each column goes as one parameter, an array: so the text of a
 * statement is the same however many rows there are, and it stays prepared. SQLite takes the values one by one.
 */
import { Effect } from "effect"
import { type SqlClient, type SqlError, Statement } from "effect/sql"

export type Type = "bigint" | "bytea" | "double precision" | "integer" | "smallint" | "uuid" | "varchar"

type Value = number | string | Uint8Array | null

/** By the columns' names. */
export type Types = Readonly<Record<string, Type>>

export type Row<Name extends string> = Readonly<Record<Name, Value>>

/** Rows in one statement. SQLite takes 32,766 parameters: https://sqlite.org/limits.html#max_variable_number */
export const rowsAtOnce = 1000

export const chunks = <A>(rows: ReadonlyArray<A>): ReadonlyArray<ReadonlyArray<A>> =>
  Array.from({ length: Math.ceil(rows.length / rowsAtOnce) }, (_, n) =>
    rows.slice(n * rowsAtOnce, (n + 1) * rowsAtOnce)
  )

/** Rows of these columns, one or more: `INSERT INTO t ${it.names} ${it.of(rows)}`, or `WITH t ${it.names} AS (${it.of(rows)})`. */
export const make = <Name extends string>(sql: SqlClient.SqlClient, columns: Readonly<Record<Name, Type>>) => {
  const types = Object.entries<Type>(columns) as Array<[Name, Type]>
  const row = `(${types.map(() => "?").join(",")})`

  const values = (rows: ReadonlyArray<Row<Name>>) =>
    Statement.fragment([
      Statement.literal(
        `VALUES ${Array.from(rows, () => row).join(",")}`,
        rows.flatMap((each) => types.map(([name]) => each[name]))
      )
    ])
  const arrays = (rows: ReadonlyArray<Row<Name>>) =>
    sql`SELECT * FROM unnest(${sql.csv(
      types.map(([name, type]) =>
        array(
          sql,
          type,
          rows.map((each) => each[name])
        )
      )
    )})`
  return {
    names: sql.literal(`(${types.map(([name]) => name).join(", ")})`),
    of: sql.onDialectOrElse({ pg: () => arrays, orElse: () => values })
  }
}

/** Statements that answer nothing and see nothing of each other: to Postgres they go as one. */
export const asOneStatement = (
  sql: SqlClient.SqlClient,
  statements: ReadonlyArray<Statement.Statement<object>>
): Effect.Effect<void, SqlError.SqlError> => {
  const others = statements.slice(0, -1).map((each, n) => sql`${sql.literal(`s${n}`)} AS (${each})`)
  return sql.onDialectOrElse({
    pg: () => Effect.asVoid(sql`WITH ${sql.csv(others)} ${statements.at(-1)!}`),
    orElse: () => Effect.all(statements, { discard: true })
  })
}

/** That a column has one of these values. */
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

/** Values as one parameter, for Postgres alone. */
export const array = (sql: SqlClient.SqlClient, type: Type, values: ReadonlyArray<Value>) =>
  sql`CAST(${type === "bytea" ? values : textOf(values)} AS ${sql.literal(type)}[])`

/** As Postgres reads an array, whatever the type of its elements. https://www.postgresql.org/docs/current/arrays.html#ARRAYS-IO */
const textOf = (values: ReadonlyArray<Value>): string =>
  `{${values
    .map((value) => (typeof value === "string" ? `"${value.replace(/["\\]/g, "\\$&")}"` : (value ?? "NULL")))
    .join(",")}}`
