/** Flips one bit: of a column of a row, or of a file. */
import { VerifySuite } from "@tachograph/testkit"
import { Uuid } from "@tachograph/core"
import * as Effect from "effect/Effect"
import { type SqlClient, SqlError } from "effect/sql"
import { closeSync, fstatSync, openSync, readSync, writeSync } from "node:fs"
import type { Random } from "../harness/Random.ts"

const { Rows } = VerifySuite
type Row = VerifySuite.Rows.Row
type Table = VerifySuite.Rows.Table
type Value = VerifySuite.Rows.Value

/** The tables whose rows are damaged. */
const tables: ReadonlyArray<string> = Object.keys(Rows.keys)

export interface RowFlip {
  readonly kind: "row"
  readonly table: Table
  readonly column: string
  /** Before the flip. */
  readonly row: Row
  readonly text: string
}

export interface FileFlip {
  readonly kind: "file"
  /** The position of the byte. */
  readonly at: number
  readonly text: string
}

export type Flip = RowFlip | FileFlip

/** Hold most of a store's bits. */
const textColumns: ReadonlyArray<readonly [Table, string]> = [
  ["packs", "pack"],
  ["shared_pieces", "piece"]
]

const flipIn = (value: Uint8Array, random: Random): Buffer => {
  const bytes = Buffer.from(value)
  if (bytes.length > 0) bytes[random(0, bytes.length - 1)]! ^= 1 << random(0, 7)
  return bytes
}

/** How many bits SQLite stores an integer in. */
const sqliteBits = (value: bigint): number =>
  [8, 16, 24, 32, 48].find((bits) => BigInt.asIntN(bits, value) === value) ?? 64

const bitsOfType: Readonly<Record<string, number>> = { smallint: 16, integer: 32, bigint: 64 }

/** Undefined if the type of the column cannot hold the changed value. */
const flippedValue = (value: Value, type: string, random: Random): Value | undefined => {
  if (value === null) return undefined
  if (typeof value === "object") return flipIn(value, random)
  switch (type) {
    case "uuid":
      return Uuid.fromBytes(flipIn(Uuid.toBytes(String(value)), random))
    case "REAL":
    case "double precision": {
      const bytes = Buffer.alloc(8)
      bytes.writeDoubleLE(Number(value))
      const flipped = flipIn(bytes, random).readDoubleLE()
      return Number.isFinite(flipped) ? flipped : undefined
    }
    case "SMALLINT":
    case "INTEGER":
    case "smallint":
    case "integer":
    case "bigint": {
      const before = BigInt(value)
      const bits = bitsOfType[type] ?? sqliteBits(before)
      return BigInt.asIntN(bits, before ^ (1n << BigInt(random(0, bits - 1))))
    }
    default: {
      const bytes = flipIn(Buffer.from(String(value)), random)
      const text = bytes.toString()
      return Buffer.from(text).equals(bytes) && !text.includes("\0") ? text : undefined
    }
  }
}

const typesOf = (sql: SqlClient.SqlClient, table: Table) =>
  sql.onDialectOrElse({
    pg: () => sql<{ name: string; type: string }>`SELECT column_name AS name, data_type AS type
      FROM information_schema.columns WHERE table_schema = current_schema() AND table_name = ${table}`,
    orElse: () => sql<{ name: string; type: string }>`SELECT name, type FROM pragma_table_info(${table})`
  })

/** Undefined if this column has no such value, or the database refuses the changed one. */
const tryFlip = Effect.fnUntraced(function* (
  sql: SqlClient.SqlClient,
  table: Table,
  column: { readonly name: string; readonly type: string },
  random: Random
) {
  const rows = yield* Rows.select(sql, table)
  if (rows.length === 0) return undefined
  const at = random(0, rows.length - 1)
  const row = rows[at]!
  const before = row[column.name]!
  const isText = column.type === "BLOB" && random(0, 9) === 0
  const value = isText ? before : flippedValue(before, column.type, random)
  if (value === undefined) return undefined
  // Bit 0 of the type in the head of the row: https://sqlite.org/fileformat2.html#record_format
  const stored = isText ? sql`CAST(${sql(column.name)} AS TEXT)` : sql`${value}`
  const isRow = sql.and(Rows.keys[table].map((key) => sql`${sql(key)} = ${row[key]}`))
  const isDone = yield* Effect.catchIf(
    Effect.as(sql`UPDATE ${sql(table)} SET ${sql(column.name)} = ${stored} WHERE ${isRow}`, true),
    SqlError.isSqlError,
    () => Effect.succeed(false)
  )
  const text = `${table}.${column.name} of row ${at}: ${shown(before)} → ${isText ? "text" : shown(value)}`
  return isDone ? ({ kind: "row", table, column: column.name, row, text } as const) : undefined
})

const shown = (value: Value): string =>
  value !== null && typeof value === "object" ? `${value.length} bytes` : String(value)

/** Draws until a flip is possible. */
const maxDraws = 10_000

const drawn = (random: Random): readonly [table: Table, column: string | undefined] => {
  return random(0, 1) === 0
    ? textColumns[random(0, textColumns.length - 1)]!
    : [tables[random(0, tables.length - 1)] as Table, undefined]
}

/**
 * Flips one bit of a random row: of the column `TABLE.COLUMN` if it is given, otherwise every second time of a text, and else of
 * any column of any table.
 */
export const inRow: (
  sql: SqlClient.SqlClient,
  random: Random,
  only?: string
) => Effect.Effect<RowFlip, SqlError.SqlError> = Effect.fnUntraced(function* (sql, random, only) {
  const given = only?.split(".") as [Table, string] | undefined
  for (let n = 0; n < maxDraws; n++) {
    const [table, name] = given ?? drawn(random)
    const columns = yield* typesOf(sql, table)
    const column = columns.find((each) => each.name === name) ?? columns[random(0, columns.length - 1)]
    const flip = column && (yield* tryFlip(sql, table, column, random))
    if (flip !== undefined) return flip
  }
  return yield* Effect.die(new Error(`No bit of ${only ?? "any column"} can be flipped`))
})

/** Flips one bit of a file. */
export const inFile = (path: string, random: Random): FileFlip => {
  const descriptor = openSync(path, "r+")
  try {
    const at = random(0, fstatSync(descriptor).size - 1)
    const byte = Buffer.alloc(1)
    readSync(descriptor, byte, 0, 1, at)
    const bit = random(0, 7)
    byte[0]! ^= 1 << bit
    writeSync(descriptor, byte, 0, 1, at)
    return { kind: "file", at, text: `bit ${bit} of byte ${at} of the file` }
  } finally {
    closeSync(descriptor)
  }
}
