/** Values of rows, and the types of their columns. */
export type Type = "bigint" | "bytea" | "double precision" | "integer" | "smallint" | "uuid" | "varchar"

export type Value = number | string | Uint8Array | null

/** A column, and how its value is taken from a row. */
export interface Column<Row> {
  readonly type: Type
  readonly value: (row: Row) => Value
}
