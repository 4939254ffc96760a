/**
 * Finds the pieces that texts reach, directly or through other pieces. Goes through the packs from the newest to the oldest:
 * a piece is only referenced by its own pack and by newer ones, so all references to the pieces of a pack are known when its
 * turn comes, and no other pack has to be open.
 */
import { ByteReader } from "./format/Bytes.ts"
import type * as PackContent from "./format/PackContent.ts"
import * as Template from "./format/Template.ts"
import { keyOf, type PieceNumber, piecesOf } from "./Join.ts"

export class Reach {
  /** Pieces that are reached, in packs whose turn has not come. */
  readonly #awaited: Set<PieceNumber>
  readonly #shared: Map<string, Buffer>

  /** Copies another one. */
  constructor(from?: Reach) {
    this.#awaited = new Set(from === undefined ? [] : from.#awaited)
    this.#shared = new Map(from === undefined ? [] : from.#shared)
  }

  /** The names of the shared pieces that are reached so far. Copies, which retain no content of a pack. */
  get shared(): ReadonlyArray<Buffer> {
    return Array.from(this.#shared.values())
  }

  /**
   * The next older packs, opened, and the texts in them to start from. Returns the pieces of these packs that are reached.
   */
  visit(
    contents: ReadonlyArray<PackContent.Contents>,
    texts: ReadonlyArray<PackContent.TemplateSpan>
  ): ReadonlyMap<PieceNumber, PackContent.TemplateSpan> {
    const spans = piecesOf(contents)
    const reached = new Map<PieceNumber, PackContent.TemplateSpan>()
    /** Templates that are still to be read. */
    const pending = [...texts]
    const reach = (piece: PieceNumber) => {
      const span = spans.get(piece)
      if (span === undefined) {
        this.#awaited.add(piece)
      } else if (!reached.has(piece)) {
        reached.set(piece, span)
        pending.push(span)
      }
    }
    const visitor: Template.TemplateVisitor = {
      part: (number) => reach(-number),
      history: (first, count) => {
        for (let index = 0; index < count; index++) reach(first + index)
      },
      shared: (sha256) => {
        const key = keyOf(sha256)
        if (!this.#shared.has(key)) this.#shared.set(key, Buffer.from(sha256))
      }
    }
    for (const piece of spans.keys()) if (this.#awaited.delete(piece)) reach(piece)
    for (let span = pending.pop(); span !== undefined; span = pending.pop()) {
      Template.read(new ByteReader(span.content, span.start), visitor)
    }
    return reached
  }
}
