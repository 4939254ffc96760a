/** Prints tables and progress, and formats numbers. */

export interface Table {
  readonly title: string
  readonly columns: ReadonlyArray<string>
  readonly rows: ReadonlyArray<ReadonlyArray<string>>
  /** How the numbers were measured. */
  readonly notes?: ReadonlyArray<string>
}

const isNumber = (cell: string) => /^[-≥≤]?[\d,]/.test(cell) || cell === ""

/** Prints a table in Markdown. */
export const print = ({ columns, notes = [], rows, title }: Table): void => {
  const widths = columns.map((column, index) => Math.max(column.length, ...rows.map((row) => row[index]!.length)))
  const isRightAligned = columns.map((_, index) => index > 0 && rows.every((row) => isNumber(row[index]!)))
  const line = (cells: ReadonlyArray<string>) =>
    `| ${cells.map((cell, index) => (isRightAligned[index] ? cell.padStart(widths[index]!) : cell.padEnd(widths[index]!))).join(" | ")} |`
  console.log(`\n### ${title}\n`)
  console.log(line(columns))
  console.log(
    `| ${widths.map((width, index) => (isRightAligned[index] ? `${"-".repeat(width - 1)}:` : "-".repeat(width))).join(" | ")} |`
  )
  for (const row of rows) console.log(line(row))
  for (const note of notes) console.log(`\n${note}`)
}

/** Prints progress to standard error. */
export const progress = (text: string): void => console.error(`… ${text}`)

export const integer = (value: number): string => Math.round(value).toLocaleString("en-US")
export const decimal = (value: number, digits = 2): string =>
  value.toLocaleString("en-US", { minimumFractionDigits: digits, maximumFractionDigits: digits })
/** Bytes in MB, millions of bytes. */
export const megabytes = (bytes: number, digits = 3): string => decimal(bytes / 1e6, digits)
export const times = (value: number): string => `${decimal(value)}×`

export const median = (values: ReadonlyArray<number>): number => {
  const sorted = values.toSorted((a, b) => a - b)
  const middle = sorted.length >> 1
  return sorted.length % 2 === 1 ? sorted[middle]! : (sorted[middle - 1]! + sorted[middle]!) / 2
}

/** The median and the range. */
export const spread = (values: ReadonlyArray<number>, digits = 1): string =>
  `${decimal(median(values), digits)} (${decimal(Math.min(...values), digits)}–${decimal(Math.max(...values), digits)})`
