/** A statement of `node:sqlite`, with values of the types of its columns. */
import type { DatabaseSync, SQLInputValue, SQLOutputValue, StatementResultingChanges } from "node:sqlite"
import * as ColumnTypes from "./ColumnTypes.ts"

const select = /^\s*SELECT\b/i

const isTooLarge = (error: unknown): boolean =>
  (error as { readonly code?: unknown } | null)?.code === "ERR_OUT_OF_RANGE"

/** Only damage makes an integer larger than a `number` can represent. It is rounded, so that the row is read and found damaged. */
const round = (rows: ReadonlyArray<Record<string, SQLOutputValue>>): void => {
  for (const row of rows) {
    for (const name in row) {
      const value = row[name]
      if (typeof value === "bigint") row[name] = Number(value)
    }
  }
}

/** Parameters of a statement that stay in memory, outside of V8's heap, until it runs again (bytes). */
const maxKeptBytes = 16 * 1024

const isLarge = (params: ReadonlyArray<unknown>): boolean => {
  let bytes = 0
  for (const value of params) {
    if (typeof value === "string" || value instanceof Uint8Array) bytes += value.length
  }
  return bytes > maxKeptBytes
}

export interface PreparedStatement {
  /** Returns the rows, with values of their columns' types. */
  readonly all: (params: ReadonlyArray<unknown>) => ReadonlyArray<Record<string, SQLOutputValue>>
  /** The same, but throws if an integer is too large. What the statement has written stays written. */
  readonly allOrThrow: (params: ReadonlyArray<unknown>) => ReadonlyArray<Record<string, SQLOutputValue>>
  readonly run: (params: ReadonlyArray<unknown>) => StatementResultingChanges
}

export const prepare = (database: DatabaseSync, sql: string): PreparedStatement => {
  const statement = database.prepare(sql)
  const convert = ColumnTypes.converterOf(statement)
  // Without rows there is no integer that may be too large. A statement that writes must not run again when it has returned one.
  const canRepeat = select.test(sql) || statement.columns().length === 0
  const withBigInts = (values: ReadonlyArray<SQLInputValue>) => {
    statement.setReadBigInts(true)
    try {
      const rows = statement.all(...values)
      round(rows)
      return rows
    } finally {
      statement.setReadBigInts(false)
    }
  }
  const read = (values: ReadonlyArray<SQLInputValue>) => {
    if (!canRepeat) return withBigInts(values)
    try {
      return statement.all(...values)
    } catch (error) {
      if (!isTooLarge(error)) throw error
      return withBigInts(values)
    }
  }
  /** SQLite keeps its copies of the parameters until others are bound. An iterator binds its own, here none, and runs nothing. */
  const releasing = <A>(params: ReadonlyArray<unknown>, body: (values: ReadonlyArray<SQLInputValue>) => A): A => {
    try {
      return body(params as ReadonlyArray<SQLInputValue>)
    } finally {
      if (isLarge(params)) statement.iterate()
    }
  }
  const converted =
    (body: typeof read): PreparedStatement["all"] =>
    (params) => {
      const rows = releasing(params, body)
      convert(rows)
      return rows
    }
  return {
    all: converted(read),
    allOrThrow: converted((values) => statement.all(...values)),
    run: (params) => releasing(params, (values) => statement.run(...values))
  }
}
