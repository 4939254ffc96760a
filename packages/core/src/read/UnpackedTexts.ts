/** Texts of shared pieces, unpacked when a read comes to them: a large one is freed before the next. */
import * as Join from "../payload/Join.ts"
import * as Memory from "../payload/format/Memory.ts"
import * as SharedPiece from "../payload/format/SharedPiece.ts"

interface StoredShared {
  readonly sha256: Uint8Array
  readonly bytes: Uint8Array
}

export class UnpackedTexts implements Join.SharedTexts {
  readonly #maxPieceBytes: number
  readonly #stored: Map<string, Uint8Array>
  /** Texts that are too small to be freed. They may occur often. */
  readonly #small = new Map<string, Buffer>()

  constructor(pieces: ReadonlyArray<StoredShared>, maxPieceBytes: number) {
    this.#maxPieceBytes = maxPieceBytes
    this.#stored = new Map(pieces.map(({ bytes, sha256 }) => [Join.keyOf(sha256), bytes]))
  }

  /** Throws `Damage` if it cannot be decompressed to at most `maxPieceBytes`. */
  get(key: string): Buffer | undefined {
    const known = this.#small.get(key)
    const stored = this.#stored.get(key)
    if (known !== undefined || stored === undefined) return known
    const text = SharedPiece.textOf(stored, this.#maxPieceBytes)
    if (!Memory.isFreed(text)) {
      this.#small.set(key, text)
      this.#stored.delete(key)
    }
    return text
  }

  free(text: Buffer): void {
    Memory.free(text)
  }
}
