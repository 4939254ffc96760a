/** Expands templates to texts: the inverse of `Split`. */
import { ByteReader, ByteWriter } from "./format/Bytes.ts"
import { Damage } from "./format/Damage.ts"
import type * as PackContent from "./format/PackContent.ts"
import * as Template from "./format/Template.ts"

/** The number of a piece: positive in the history, negated for a part. */
export type PieceNumber = number

/** Available pieces, by number. */
export type Pieces = Pick<ReadonlyMap<PieceNumber, PackContent.TemplateSpan>, "get">

export const piecesOf = (
  contents: ReadonlyArray<PackContent.Contents>
): ReadonlyMap<PieceNumber, PackContent.TemplateSpan> => {
  const pieces = new Map<PieceNumber, PackContent.TemplateSpan>()
  for (const { before, history, parts } of contents) {
    for (const [index, span] of history.entries()) pieces.set(before.history + index + 1, span)
    for (const [index, span] of parts.entries()) pieces.set(-(before.parts + index + 1), span)
  }
  return pieces
}

/** Thrown if a template references a piece that is not available: its pack was not given, or it was erased. */
export class PieceMissing extends Damage {
  /** `piece` is the SHA-256 if it is a shared piece. */
  constructor(piece: PieceNumber | Buffer) {
    super(Buffer.isBuffer(piece) ? `Shared piece ${piece.toString("hex")} is missing` : `Piece ${piece} is missing`)
  }
}

/** A run that is being expanded. */
interface OpenRun {
  readonly first: number
  next: number
  readonly last: number
  readonly separator: Buffer
}

/**
 * Visits the literal texts that a template expands to, and yields the names of the shared pieces between them, in order. Uses a
 * stack of its own, so nesting is limited by memory, not by the call stack.
 */
function* walk(
  { content, start }: PackContent.TemplateSpan,
  pieces: Pieces,
  literal: (source: Buffer, start: number, end: number) => void
): Generator<Buffer, void> {
  const open: Array<ByteReader | OpenRun> = [new ByteReader(content, start)]
  const enter = (number: PieceNumber) => {
    const piece = pieces.get(number)
    if (piece === undefined) throw new PieceMissing(number)
    open.push(new ByteReader(piece.content, piece.start))
  }
  let shared: Buffer | undefined
  const visitor: Template.TemplateVisitor = {
    literal,
    part: (number) => enter(-number),
    history: (first, count, separator) => open.push({ first, next: first, last: first + count - 1, separator }),
    shared: (sha256) => (shared = sha256)
  }
  for (let top = open.at(-1); top !== undefined; top = open.at(-1)) {
    if (top instanceof ByteReader) {
      if (!Template.readStep(top, visitor)) open.pop()
      if (shared === undefined) continue
      yield shared
      shared = undefined
    } else if (top.next > top.last) {
      open.pop()
    } else {
      if (top.next > top.first) literal(top.separator, 0, top.separator.length)
      enter(top.next++)
    }
  }
}

/** The name of a shared piece as a map key. */
export const keyOf = (sha256: Uint8Array): string =>
  Buffer.from(sha256.buffer, sha256.byteOffset, 32).toString("latin1")

/** The texts of shared pieces, by `keyOf` of their names. */
export interface SharedTexts extends Pick<ReadonlyMap<string, Buffer>, "get"> {
  /** Called with each text that `get` has returned, when it is not used any more. */
  readonly free?: (text: Buffer) => void
}

/** Thrown if a text has more bytes than it may have. */
export class TextTooLong extends Damage {
  constructor(maxBytes: number) {
    super(`A text has more than ${maxBytes} bytes`)
  }
}

interface Limits {
  /** The initial capacity of the result. */
  readonly expectedBytes?: number
  readonly maxBytes?: number
}

/**
 * Expands a template to a text of at most `maxBytes`. Yields the name of a shared piece that `shared` does not have: it must have
 * it when this goes on.
 */
export function* joining(
  span: PackContent.TemplateSpan,
  pieces: Pieces,
  shared: SharedTexts,
  { expectedBytes, maxBytes = Number.POSITIVE_INFINITY }: Limits = {}
): Generator<Buffer, Buffer> {
  const out = new ByteWriter(expectedBytes)
  const add = (source: Buffer, start: number, end: number) => {
    if (out.length + end - start > maxBytes) throw new TextTooLong(maxBytes)
    out.bytes(source, start, end)
  }
  for (const sha256 of walk(span, pieces, add)) {
    const key = keyOf(sha256)
    let text = shared.get(key)
    if (text === undefined) {
      yield sha256
      text = shared.get(key)
    }
    if (text === undefined) throw new PieceMissing(sha256)
    add(text, 0, text.length)
    shared.free?.(text)
  }
  return out.view()
}

/** The same with all shared pieces at hand. */
export const join = (
  span: PackContent.TemplateSpan,
  pieces: Pieces,
  shared: SharedTexts,
  limits: Limits = {}
): Buffer => {
  const { done, value } = joining(span, pieces, shared, limits).next()
  if (done !== true) throw new PieceMissing(value)
  return value
}
