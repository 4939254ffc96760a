/** Which pieces the new pieces of a pack reference. */
import { ByteReader } from "./format/Bytes.ts"
import type * as PackContent from "./format/PackContent.ts"
import * as Template from "./format/Template.ts"

/** Numbers of pieces of one kind. Both ends are inclusive. */
interface NumberRange {
  readonly from: number
  readonly to: number
}

type NumberRanges = ReadonlyArray<NumberRange>

/** Ascending ranges that neither overlap nor touch. Leaves out what only the pack's texts reference. */
export const of = ({
  history,
  parts
}: PackContent.Contents): { readonly history: NumberRanges; readonly parts: NumberRanges } => {
  const inHistory: Array<NumberRange> = []
  const inParts: Array<NumberRange> = []
  const visitor: Template.TemplateVisitor = {
    part: (number) => inParts.push({ from: number, to: number }),
    history: (first, count) => inHistory.push({ from: first, to: first + count - 1 }),
    shared: () => {}
  }
  for (const { content, start } of [...history, ...parts]) Template.read(new ByteReader(content, start), visitor)
  return { history: merged(inHistory), parts: merged(inParts) }
}

const merged = (ranges: Array<NumberRange>): NumberRanges => {
  const result: Array<NumberRange> = []
  for (const range of ranges.sort((a, b) => a.from - b.from)) {
    const last = result.at(-1)
    if (last === undefined || last.to + 1 < range.from) result.push(range)
    else if (last.to < range.to) result[result.length - 1] = { from: last.from, to: range.to }
  }
  return result
}
