/** Prints the results of a run. */
import type { Result } from "./Trials.ts"
import * as Table from "./Table.ts"
import type * as Check from "./Check.ts"

export const statusOf = ({ skipped, violations }: Check.Report): "passed" | "FAILED" | "skipped" => {
  if (skipped !== undefined) return "skipped"
  return violations.length > 0 ? "FAILED" : "passed"
}

const columns: Table.Columns<Result> = [
  ["fault", ({ fault }) => fault.name],
  ["storage", ({ kind }) => kind],
  ["rounds", ({ report }) => report.rounds],
  ["acknowledged", ({ report }) => report.acknowledged],
  ["refused", ({ report }) => report.refused],
  ["unknown", ({ report }) => report.unknown],
  ["found", ({ report }) => report.found],
  ["refused but found", ({ report }) => report.refusedButFound],
  ["seconds", ({ seconds }) => seconds.toFixed(1)],
  ["result", ({ report }) => statusOf(report)]
]

/** One row per fault and storage, in Markdown. */
export const table = (results: ReadonlyArray<Result>): string => Table.markdown(columns, results)

/** Violations printed for one fault. */
const maxViolations = 20

/** Measurements, reasons for skipping, and violations. */
export const details = (results: ReadonlyArray<Result>): string =>
  results
    .flatMap(({ fault, kind, report: { notes, skipped, violations } }) => {
      const name = `${fault.name} on ${kind}`
      const more = violations.length - maxViolations
      return [
        ...notes.map((note) => `${name}: ${note}`),
        ...(skipped === undefined ? [] : [`${name}: skipped: ${skipped}`]),
        ...violations.slice(0, maxViolations).map((violation) => `${name}: FAILED: ${violation}`),
        ...(more > 0 ? [`${name}: FAILED: and ${more} more`] : [])
      ]
    })
    .join("\n")
