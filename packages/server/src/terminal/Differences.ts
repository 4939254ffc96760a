/** What differs between two texts, line by line, for people to read. */
import { structuredPatch } from "diff"
import * as Style from "./Style.ts"
import * as Table from "./Table.ts"

/** Lines around a difference that are printed. */
const context = 3

const painted = (line: string): string => {
  const printed = line.slice(0, 1) + Table.printable(line.slice(1))
  if (line.startsWith("-")) return Style.red(printed)
  return line.startsWith("+") ? Style.green(printed) : printed
}

/** The lines that differ, after `-` and `+`, with some around them. Empty where the texts are equal. */
export const of = (from: string, to: string): ReadonlyArray<string> => {
  const { hunks } = structuredPatch("", "", `${from}\n`, `${to}\n`, undefined, undefined, { context })
  return hunks.flatMap(({ lines }, index) => [...(index === 0 ? [] : [Style.dim("…")]), ...lines.map(painted)])
}
