/** The hashes of pieces, by which they are found when their texts recur. */
import { hash } from "node:crypto"
import * as PackContent from "./format/PackContent.ts"
import * as Template from "./format/Template.ts"
import * as Join from "./Join.ts"

/** Bytes of texts that are joined, newest first, to hash them. Values that are not hashed are stored again when they recur. */
const maxJoinedBytes = 64 * 1024 * 1024

interface PieceHash {
  /** `keyOf` of the SHA-256 of its text. */
  readonly key: string
  readonly piece: Join.PieceNumber
}

/** The hashes of those pieces that can be joined, in their order. Yields before each piece. */
export function* of(
  numbers: ReadonlyArray<Join.PieceNumber>,
  pieces: Join.Pieces,
  shared: Join.SharedTexts
): Generator<void, ReadonlyArray<PieceHash>> {
  const hashes: Array<PieceHash> = []
  let maxBytes = maxJoinedBytes
  for (const piece of numbers.toReversed()) {
    yield
    const span = pieces.get(piece)
    if (span === undefined || PackContent.isEmpty(span)) continue
    const name = Template.sharedAlone(span.content, span.start, span.end)
    if (name !== undefined) {
      // If its text was not read it may be damaged: it is named again when it recurs, and then the storage looks.
      if (shared.get(Join.keyOf(name)) !== undefined) hashes.push({ key: Join.keyOf(name), piece })
      continue
    }
    try {
      const text = Join.join(span, pieces, shared, { maxBytes })
      maxBytes -= text.length
      hashes.push({ key: Join.keyOf(hash("sha256", text, "buffer")), piece })
    } catch (error) {
      // A piece within it was erased, is damaged, or is in an older pack than was read.
      if (error instanceof Join.PieceMissing) continue
      if (error instanceof Join.TextTooLong) break
      throw error
    }
  }
  return hashes.reverse()
}
