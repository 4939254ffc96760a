/** A table in Markdown. */

export type Columns<A> = ReadonlyArray<readonly [name: string, of: (row: A) => string | number]>

/** The first two columns are aligned to the left, the others to the right. */
export const markdown = <A>(columns: Columns<A>, items: ReadonlyArray<A>): string => {
  const rows = [columns.map(([name]) => name), ...items.map((item) => columns.map(([, of]) => String(of(item))))]
  const widths = columns.map((_, column) => Math.max(...rows.map((row) => row[column]!.length)))
  const line = (cells: ReadonlyArray<string>) => `| ${cells.join(" | ")} |`
  const [head, ...body] = rows.map((row) =>
    line(row.map((cell, column) => (column < 2 ? cell.padEnd(widths[column]!) : cell.padStart(widths[column]!))))
  )
  const rule = line(widths.map((width, column) => (column < 2 ? "-".repeat(width) : `${"-".repeat(width - 1)}:`)))
  return [head, rule, ...body].join("\n")
}
