/**
 * The content of a pack, the inner half of the format: the templates of an event's two texts and of its new pieces. `Pack`
 * is the outer half.
 *
 *     integer     number of history pieces that the session had before
 *     integer     number of parts that it had before
 *     integer     number of new history pieces, numbered from there
 *     integer     number of new parts, likewise
 *     templates   inputs, output, the new history pieces, the new parts
 *
 * Erased texts and pieces are empty templates. They cannot be mistaken for data, because no JSON text is empty.
 */
import { ByteReader, ByteWriter } from "./Bytes.ts"
import * as Template from "./Template.ts"

export interface Counts {
  readonly history: number
  readonly parts: number
}

interface ContentHead {
  readonly before: Counts
  readonly added: Counts
}

/** The position of a template in a content: from `start` up to, not including, `end`. */
export interface TemplateSpan {
  readonly content: Buffer
  readonly start: number
  readonly end: number
}

export interface Contents extends ContentHead {
  readonly inputs: TemplateSpan
  readonly output: TemplateSpan
  readonly history: ReadonlyArray<TemplateSpan>
  readonly parts: ReadonlyArray<TemplateSpan>
}

export const isEmpty = ({ content, end, start }: TemplateSpan): boolean => end - start === 1 && content[start] === 0

/** The number of pieces that are not erased. */
export const piecesIn = ({ history, parts }: Pick<Contents, "history" | "parts">): number => {
  let pieces = 0
  for (const spans of [history, parts]) for (const span of spans) if (!isEmpty(span)) pieces++
  return pieces
}

/** Leads from the start of a content to its first template. */
export const readHead = (reader: ByteReader): ContentHead => ({
  before: { history: reader.integer(), parts: reader.integer() },
  added: { history: reader.integer(), parts: reader.integer() }
})

/** The number of pieces of a content, erased ones included. */
export const addedPieces = (content: Buffer): number => {
  const { added } = readHead(new ByteReader(content))
  return added.history + added.parts
}

/** Locates every template of a content. */
export const read = (content: Buffer): Contents => {
  const reader = new ByteReader(content)
  const { added, before } = readHead(reader)
  const next = (): TemplateSpan => {
    const start = reader.at
    Template.skip(reader)
    return { content, start, end: reader.at }
  }
  return {
    before,
    added,
    inputs: next(),
    output: next(),
    history: Array.from({ length: added.history }, next),
    parts: Array.from({ length: added.parts }, next)
  }
}

/** Assembles a content from written templates, which may be concatenated. Returns a view of `out` if that is given. */
export const write = (
  { added, before }: ContentHead,
  templates: ReadonlyArray<Buffer>,
  out = new ByteWriter(32 + templates.reduce((sum, { length }) => sum + length, 0))
): Buffer => {
  out.integer(before.history)
  out.integer(before.parts)
  out.integer(added.history)
  out.integer(added.parts)
  for (const template of templates) out.bytes(template)
  return out.view()
}
