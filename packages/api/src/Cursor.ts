/**
 * The values of `next_cursor`: strings that are opaque to clients, the same in an answer and in the query of the next page. Each
 * names the last row of a page. A cursor is valid with the same filters and order.
 */
import * as Violation from "@tachograph/core/domain/Violation"
import { Schema } from "effect"

const prefix = "c1_"

const make = <Row extends string | number>(
  pattern: RegExp,
  write: (row: Row) => string,
  read: (written: string) => Row
) => ({
  schema: Schema.String.check(
    Violation.check((text) =>
      text.startsWith(prefix) && pattern.test(text.slice(prefix.length))
        ? undefined
        : Violation.valueError("not a cursor of this server")
    )
  ),
  /** Null without a row: there is no other page. */
  encode: (row: Row | undefined): string | null => (row === undefined ? null : prefix + write(row)),
  /** Undefined without a cursor: the first page. Takes what fits the schema. */
  decode: (text: string | undefined): Row | undefined =>
    text === undefined ? undefined : read(text.slice(prefix.length))
})

/** Names a row by its UUID. */
export const ofId = <Id extends string>() =>
  make<Id>(
    /^[0-9a-f]{32}$/,
    (id) => id.replaceAll("-", ""),
    (hex) => hex.replace(/^(.{8})(.{4})(.{4})(.{4})/, "$1-$2-$3-$4-") as Id
  )

/** Names a row by its number, of 31 bits like the columns of all numbers. */
export const ofNumber = make<number>(
  /^[0-7][0-9a-f]{7}$/,
  (number) => number.toString(16).padStart(8, "0"),
  (hex) => Number.parseInt(hex, 16)
)
