/** From templates back to texts. */
import { ByteReader } from "./Bytes.ts"
import type { OpenPack } from "./Pack.ts"
import * as PackContent from "./PackContent.ts"
import * as Template from "./Template.ts"

/** The number of a piece: of the history as it is, of a part with a minus. */
export type PieceNumber = number

/** The pieces of packs that were opened. */
export class Pieces {
  readonly #history = new Map<number, PackContent.Place>()
  readonly #parts = new Map<number, PackContent.Place>()

  add({ before, history, parts }: PackContent.Contents): void {
    for (const [index, place] of history.entries()) this.#history.set(before.history + index + 1, place)
    for (const [index, place] of parts.entries()) this.#parts.set(before.parts + index + 1, place)
  }

  get(number: PieceNumber): PackContent.Place | undefined {
    return number > 0 ? this.#history.get(number) : this.#parts.get(-number)
  }
}

export const piecesOf = (packs: ReadonlyArray<OpenPack>): Pieces => {
  const pieces = new Pieces()
  for (const { content } of packs) pieces.add(PackContent.read(content))
  return pieces
}

/** A stretch of text, or the name of a shared piece that stands there: the SHA-256 of its text. */
export type Segment = { readonly text: Buffer } | { readonly sha256: Buffer }

/** Thrown where a template names a piece that is not there: the packs given are too few, or something was erased meanwhile. */
export class PieceMissing extends Error {
  readonly piece: PieceNumber
  constructor(piece: PieceNumber) {
    super(`Piece ${piece} is missing`)
    this.piece = piece
  }
}

interface Rest {
  /** The next piece of a run, its last, and what stands between two of them. */
  next: number
  readonly first: number
  readonly last: number
  readonly separator: Buffer
}

/** The text of a template, in order, all pieces put in their places. Depth costs memory, not stack. */
export const segments = (place: PackContent.Place, pieces: Pieces): Array<Segment> => {
  const found: Array<Segment> = []
  const open: Array<ByteReader | Rest> = []
  const enter = (number: PieceNumber) => {
    const piece = pieces.get(number)
    if (piece === undefined) throw new PieceMissing(number)
    open.push(new ByteReader(piece.content, piece.start))
  }
  const visitor: Template.TemplateVisitor = {
    literal: (text) => found.push({ text }),
    part: (number) => enter(-number),
    history: (first, count, separator) => open.push({ next: first, first, last: first + count - 1, separator }),
    shared: (sha256) => found.push({ sha256 })
  }
  open.push(new ByteReader(place.content, place.start))
  for (let top = open.at(-1); top !== undefined; top = open.at(-1)) {
    if (top instanceof ByteReader) {
      if (!Template.readStep(top, visitor)) open.pop()
    } else if (top.next > top.last) {
      open.pop()
    } else {
      if (top.next > top.first) found.push({ text: top.separator })
      enter(top.next++)
    }
  }
  return found
}

/** A name as the key of a map. */
export const keyOf = (sha256: Uint8Array): string =>
  Buffer.from(sha256.buffer, sha256.byteOffset, 32).toString("latin1")

/** The shared pieces that a template names itself. */
export const sharedNamed = ({ content, start }: PackContent.Place): ReadonlyArray<Segment> => {
  const found: Array<Segment> = []
  Template.read(new ByteReader(content, start), {
    part: () => {},
    history: () => {},
    shared: (sha256) => found.push({ sha256 })
  })
  return found
}

/** The names of shared pieces among segments, each once. */
export const sharedIn = (segments: Iterable<Segment>): ReadonlyArray<Buffer> => {
  const names = new Map<string, Buffer>()
  for (const segment of segments) if ("sha256" in segment) names.set(keyOf(segment.sha256), segment.sha256)
  return Array.from(names.values())
}

/** The texts of shared pieces, by `keyOf` their names. */
export type SharedTexts = ReadonlyMap<string, Buffer>

export const textOf = (segment: Segment, shared: SharedTexts): Buffer => {
  if ("text" in segment) return segment.text
  const text = shared.get(keyOf(segment.sha256))
  if (text === undefined) throw new Error(`Shared piece ${segment.sha256.toString("hex")} is missing`)
  return text
}

export const join = (segments: ReadonlyArray<Segment>, shared: SharedTexts): Buffer =>
  Buffer.concat(segments.map((segment) => textOf(segment, shared)))
