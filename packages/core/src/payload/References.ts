/** Which pieces a pack references. */
import { ByteReader } from "./format/Bytes.ts"
import * as PackContent from "./format/PackContent.ts"
import * as Template from "./format/Template.ts"

/** Numbers of pieces of one kind. Both ends are inclusive. */
interface NumberRange {
  readonly from: number
  readonly to: number
}

type NumberRanges = ReadonlyArray<NumberRange>

/** What its new pieces reference: ascending ranges that neither overlap nor touch. Leaves out what only the pack's texts reference. */
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

/** Visits the templates of a content. */
const visit = (content: Buffer, visitor: Template.TemplateVisitor): void => {
  const reader = new ByteReader(content)
  PackContent.readHead(reader)
  while (reader.at < content.length) Template.readStep(reader, visitor)
}

/** The names of the shared pieces that the templates of a content reference, in order. Views of the content. */
export const sharedIn = (content: Buffer): ReadonlyArray<Buffer> => {
  const names: Array<Buffer> = []
  visit(content, { part: () => {}, history: () => {}, shared: (name) => names.push(name) })
  return names
}

/** The numbers of the parts that they reference. */
export const partsIn = (content: Buffer): ReadonlyArray<number> => {
  const numbers: Array<number> = []
  visit(content, { part: (number) => numbers.push(number), history: () => {}, shared: () => {} })
  return numbers
}
