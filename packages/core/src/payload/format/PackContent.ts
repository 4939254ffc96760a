/**
 * The content of a pack: the templates of an event's two texts, and those of the pieces that are new with it. The outer half
 * of the format is `Pack`.
 *
 *     integer     pieces of the history that the session had before
 *     integer     parts that it had before
 *     integer     new pieces of the history, which are numbered on from there
 *     integer     new parts, likewise
 *     templates   inputs, output, the new pieces of the history, the new parts
 *
 * An erased event's texts, and erased pieces, are empty templates: no JSON text is empty.
 */
import { ByteReader, ByteWriter } from "./Bytes.ts"
import * as Template from "./Template.ts"

export interface Counts {
  readonly history: number
  readonly parts: number
}

export interface ContentHead {
  readonly before: Counts
  readonly added: Counts
}

/** A template where it stands in a content, from its first byte up to the one behind its end. */
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

/** Finds every template of a content. */
export const read = (content: Buffer): Contents => {
  const reader = new ByteReader(content)
  const before = { history: reader.integer(), parts: reader.integer() }
  const added = { history: reader.integer(), parts: reader.integer() }
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

/** A content of templates that are written already, the new pieces' one after the other. A view of `out`, where it is given. */
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
