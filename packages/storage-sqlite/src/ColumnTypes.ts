/**
 * SQLite keeps a value of any type in any column, and one changed bit in the head of a row turns bytes into text, or a number
 * into another value. Such a value is converted to the type of its column here, where rows leave the database: whatever reads
 * it finds damaged content, which a checksum tells, and never a value of a type that it does not expect.
 */
import { Buffer } from "node:buffer"
import type { SQLOutputValue, StatementSync } from "node:sqlite"

type Row = Record<string, SQLOutputValue>

interface ColumnType {
  readonly has: (value: SQLOutputValue) => boolean
  readonly convert: (value: SQLOutputValue) => SQLOutputValue
}

const textOf = (value: SQLOutputValue): string =>
  value instanceof Uint8Array ? Buffer.from(value).toString() : String(value)

const bytes: ColumnType = {
  has: (value) => value instanceof Uint8Array,
  convert: (value) => Buffer.from(textOf(value))
}

const text: ColumnType = {
  has: (value) => typeof value === "string",
  convert: textOf
}

/** Converts like SQLite's arithmetic: to the number at the beginning of the text, or 0. */
const number: ColumnType = {
  has: (value) => typeof value === "number" || typeof value === "bigint",
  convert: (value) => {
    const converted = Number.parseFloat(textOf(value))
    return Number.isFinite(converted) ? converted : 0
  }
}

/** By the types that the migrations declare. The result of an expression has none, and is left as it is. */
const types: Readonly<Record<string, ColumnType>> = {
  BLOB: bytes,
  TEXT: text,
  INTEGER: number,
  SMALLINT: number,
  REAL: number
}

/** Converts the rows of a statement, in place. */
export type Convert = (rows: ReadonlyArray<Row>) => void

export const converterOf = (statement: StatementSync): Convert => {
  const columns = statement.columns().flatMap(({ name, type }) => {
    const known = type === null ? undefined : types[type]
    return known === undefined ? [] : [{ name, ...known }]
  })
  return (rows) => {
    for (const row of rows) {
      for (const { convert, has, name } of columns) {
        const value = row[name]!
        if (value !== null && !has(value)) row[name] = convert(value)
      }
    }
  }
}
