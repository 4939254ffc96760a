/** Tables for a terminal. */

/** Escapes control and formatting characters: names may contain line breaks and terminal escape sequences. */
export const printable = (text: string): string =>
  text.replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu, (character) => `\\u{${character.codePointAt(0)!.toString(16)}}`)

/** A name between quotes. */
export const quoted = (text: string): string => printable(JSON.stringify(text))

/** Returns a cell in its colours. Its text is padded already. */
type Paint = (padded: string, row: number, column: number) => string

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
