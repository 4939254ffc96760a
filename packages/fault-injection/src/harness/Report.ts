/** What came out, for people. */
import type { Result } from "./Run.ts"

const columns: ReadonlyArray<readonly [name: string, of: (result: Result) => string | number]> = [
  ["fault", ({ fault }) => fault.name],
  ["storage", ({ kind }) => kind],
  ["rounds", ({ report }) => report.rounds],
  ["acknowledged", ({ report }) => report.acknowledged],
  ["refused", ({ report }) => report.refused],
  ["unknown", ({ report }) => report.unknown],
  ["found after", ({ report }) => report.found],
  ["of those refused", ({ report }) => report.foundThoughRefused],
  ["seconds", ({ seconds }) => seconds.toFixed(1)],
  [
    "promise",
    ({ report }) => (report.leftOut !== undefined ? "left out" : report.broken.length > 0 ? "BROKEN" : "held")
  ]
]

/** In Markdown. */
export const table = (results: ReadonlyArray<Result>): string => {
  const rows = [columns.map(([name]) => name), ...results.map((result) => columns.map(([, of]) => String(of(result))))]
  const widths = columns.map((_, column) => Math.max(...rows.map((row) => row[column]!.length)))
  const line = (cells: ReadonlyArray<string>) => `| ${cells.join(" | ")} |`
  const [head, ...body] = rows.map((row) =>
    line(row.map((cell, column) => (column < 2 ? cell.padEnd(widths[column]!) : cell.padStart(widths[column]!))))
  )
  const rule = line(widths.map((width, column) => (column < 2 ? "-".repeat(width) : `${"-".repeat(width - 1)}:`)))
  return [head, rule, ...body].join("\n")
}

/** Broken promises of one fault that are told one by one. */
const told = 20

export const details = (results: ReadonlyArray<Result>): string =>
  results
    .flatMap(({ fault, kind, report: { broken, leftOut, notes } }) => [
      ...notes.map((note) => `${fault.name} on ${kind}: ${note}`),
      ...(leftOut === undefined ? [] : [`${fault.name} on ${kind} was left out: ${leftOut}`]),
      ...broken.slice(0, told).map((line) => `${fault.name} on ${kind}: BROKEN: ${line}`),
      ...(broken.length > told ? [`${fault.name} on ${kind}: BROKEN: and ${broken.length - told} more`] : [])
    ])
    .join("\n")
