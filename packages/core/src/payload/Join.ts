/** From templates back to texts. */
import { ByteReader, ByteWriter } from "./format/Bytes.ts"
import type { OpenPack } from "./format/Pack.ts"
import * as PackContent from "./format/PackContent.ts"
import * as Template from "./format/Template.ts"

/** The number of a piece: of the history as it is, of a part with a minus. */
export type PieceNumber = number

/** The pieces of packs that were opened. */
export class Pieces {
  readonly #history = new Map<number, PackContent.TemplateSpan>()
  readonly #parts = new Map<number, PackContent.TemplateSpan>()

  add({ before, history, parts }: PackContent.Contents): void {
    for (const [index, place] of history.entries()) this.#history.set(before.history + index + 1, place)
    for (const [index, place] of parts.entries()) this.#parts.set(before.parts + index + 1, place)
  }

  get(number: PieceNumber): PackContent.TemplateSpan | undefined {
    return number > 0 ? this.#history.get(number) : this.#parts.get(-number)
  }
}

export const piecesOf = (packs: ReadonlyArray<OpenPack>): Pieces => {
  const pieces = new Pieces()
  for (const { content } of packs) pieces.add(PackContent.read(content))
  return pieces
}

/** Thrown where a template names a piece that is not there: the packs given are too few, or something was erased meanwhile. */
export class PieceMissing extends Error {
  /** A number, or the SHA-256 of a shared piece. */
  constructor(piece: PieceNumber | Buffer) {
    super(Buffer.isBuffer(piece) ? `Shared piece ${piece.toString("hex")} is missing` : `Piece ${piece} is missing`)
  }
}

/** The pieces of a run that are still to come. */
interface RestOfRun {
  readonly first: number
  next: number
  readonly last: number
  readonly separator: Buffer
}

/**
 * Visits what a text is made of, in order, all pieces put in their places: stretches of literal text, and names of shared
 * pieces. Depth costs memory, not stack.
 */
const walk = (
  { content, start }: PackContent.TemplateSpan,
  pieces: Pieces,
  literal: (source: Buffer, start: number, end: number) => void,
  shared: (sha256: Buffer) => void
): void => {
  const open: Array<ByteReader | RestOfRun> = [new ByteReader(content, start)]
  const enter = (number: PieceNumber) => {
    const piece = pieces.get(number)
    if (piece === undefined) throw new PieceMissing(number)
    open.push(new ByteReader(piece.content, piece.start))
  }
  const visitor: Template.TemplateVisitor = {
    literal,
    part: (number) => enter(-number),
    history: (first, count, separator) => open.push({ first, next: first, last: first + count - 1, separator }),
    shared
  }
  for (let top = open.at(-1); top !== undefined; top = open.at(-1)) {
    if (top instanceof ByteReader) {
      if (!Template.readStep(top, visitor)) open.pop()
    } else if (top.next > top.last) {
      open.pop()
    } else {
      if (top.next > top.first) literal(top.separator, 0, top.separator.length)
      enter(top.next++)
    }
  }
}

/** A name as the key of a map. */
export const keyOf = (sha256: Uint8Array): string =>
  Buffer.from(sha256.buffer, sha256.byteOffset, 32).toString("latin1")

/** The names of the shared pieces that it takes to put texts together, each once. */
export const sharedIn = (places: ReadonlyArray<PackContent.TemplateSpan>, pieces: Pieces): ReadonlyArray<Buffer> => {
  const names = new Map<string, Buffer>()
  for (const place of places) {
    walk(
      place,
      pieces,
      () => {},
      (sha256) => names.set(keyOf(sha256), sha256)
    )
  }
  return Array.from(names.values())
}

/** The texts of shared pieces, by `keyOf` their names. */
export type SharedTexts = ReadonlyMap<string, Buffer>

/** The text of a template; `size` is about how many bytes it has, where that is known. */
export const join = (place: PackContent.TemplateSpan, pieces: Pieces, shared: SharedTexts, size?: number): Buffer => {
  const out = new ByteWriter(size)
  walk(
    place,
    pieces,
    (source, start, end) => out.bytes(source, start, end),
    (sha256) => {
      const text = shared.get(keyOf(sha256))
      if (text === undefined) throw new PieceMissing(sha256)
      out.bytes(text)
    }
  )
  return out.view()
}
