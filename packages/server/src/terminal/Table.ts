/** Tables for a terminal. */
import * as Style from "./Style.ts"

/** Escapes control and formatting characters: names may contain line breaks and terminal escape sequences. */
export const printable = (text: string): string =>
  text.replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu, (character) => `\\u{${character.codePointAt(0)!.toString(16)}}`)

/** A name between quotes. */
export const quoted = (text: string): string => printable(JSON.stringify(text))

/** Returns a cell in its colours. Its text is padded already. */
type Paint = (padded: string, row: number, column: number) => string

/** What a table says of each row. */
export interface Column<Row> {
  readonly title: string
  readonly of: (row: Row) => string
  /** Whether its cells are aligned at their ends. */
  readonly isNumber?: boolean
  /** Returns a cell in its colour. */
  readonly paint?: (padded: string) => string
}

/** Rows below the titles of their columns. */
export const ofColumns = <Row>(columns: ReadonlyArray<Column<Row>>, rows: ReadonlyArray<Row>): string =>
  format(
    [columns.map(({ title }) => title), ...rows.map((row) => columns.map(({ of }) => of(row)))],
    new Set(columns.flatMap(({ isNumber }, column) => (isNumber === true ? [column] : []))),
    (padded, row, column) => (row === 0 ? Style.dim(padded) : (columns[column]!.paint?.(padded) ?? padded))
  )

/** A column of numbers. */
export const number = <Row>(title: string, of: Column<Row>["of"], about: Pick<Column<Row>, "paint"> = {}) => ({
  title,
  of,
  isNumber: true,
  ...about
})

/** Aligns rows of cells. `rightAligned` holds the indices of the right-aligned columns. */
export const format = (
  rows: ReadonlyArray<ReadonlyArray<string>>,
  rightAligned: ReadonlySet<number> = new Set(),
  paint: Paint = (padded) => padded
): string => {
  const widths = rows[0]!.map((_, column) => Math.max(...rows.map((row) => row[column]!.length)))
  const line = (row: ReadonlyArray<string>, index: number) => {
    const padded = row.map((cell, column) =>
      rightAligned.has(column) ? cell.padStart(widths[column]!) : cell.padEnd(widths[column]!)
    )
    // What follows the last cell that has a text would be trailing space.
    const last = row.findLastIndex((cell) => cell !== "")
    const shown = padded.slice(0, last + 1)
    if (last >= 0) shown[last] = shown[last]!.trimEnd()
    return shown.map((cell, column) => paint(cell, index, column)).join("  ")
  }
  return rows.map(line).join("\n")
}
