/** Tables for a terminal. */

/** Names may hold line breaks and what a terminal would obey. */
export const printable = (text: string): string =>
  text.replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu, (character) => `\\u{${character.codePointAt(0)!.toString(16)}}`)

/** Rows of cells, aligned; the columns that are named by their places to the right. */
export const format = (
  rows: ReadonlyArray<ReadonlyArray<string>>,
  toTheRight: ReadonlySet<number> = new Set()
): string => {
  const widths = rows[0]!.map((_, column) => Math.max(...rows.map((row) => row[column]!.length)))
  const line = (row: ReadonlyArray<string>) =>
    row
      .map((cell, column) => (toTheRight.has(column) ? cell.padStart(widths[column]!) : cell.padEnd(widths[column]!)))
      .join("  ")
      .trimEnd()
  return rows.map(line).join("\n")
}
