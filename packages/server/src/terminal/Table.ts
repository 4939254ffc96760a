/** Tables for a terminal. */

/** Escapes control and formatting characters: names may contain line breaks and terminal escape sequences. */
export const printable = (text: string): string =>
  text.replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu, (character) => `\\u{${character.codePointAt(0)!.toString(16)}}`)

/** A name between quotes. */
export const quoted = (text: string): string => printable(JSON.stringify(text))

/** Aligns rows of cells. `rightAligned` holds the indices of the right-aligned columns. */
export const format = (
  rows: ReadonlyArray<ReadonlyArray<string>>,
  rightAligned: ReadonlySet<number> = new Set()
): string => {
  const widths = rows[0]!.map((_, column) => Math.max(...rows.map((row) => row[column]!.length)))
  const line = (row: ReadonlyArray<string>) =>
    row
      .map((cell, column) => (rightAligned.has(column) ? cell.padStart(widths[column]!) : cell.padEnd(widths[column]!)))
      .join("  ")
      .trimEnd()
  return rows.map(line).join("\n")
}
