/**
 * Texts of shared pieces, unpacked when a read comes to them. A large one is freed before the next, and its stored form when it
 * does not occur again.
 */
import * as Join from "../payload/Join.ts"
import * as Memory from "../payload/format/Memory.ts"
import * as SharedPiece from "../payload/format/SharedPiece.ts"
import type { StoredShared } from "../Storage.ts"

export class UnpackedTexts implements Join.SharedTexts {
  readonly #maxPieceBytes: number
  readonly #stored: Map<string, StoredShared>
  /** Texts that are too small to be freed. They may occur often. */
  readonly #small = new Map<string, Buffer>()
  /** How often the others still occur. Undefined if none of them is freed. */
  #uses: Map<string, number> | undefined

  constructor(pieces: ReadonlyArray<StoredShared>, maxPieceBytes: number) {
    this.#maxPieceBytes = maxPieceBytes
    this.#stored = new Map(pieces.map((piece) => [Join.keyOf(piece.sha256), piece]))
  }

  expect(uses: () => ReadonlyMap<string, number>): void {
    const isFreed = ({ bytes, isOwned }: StoredShared) => isOwned === true && Memory.isFreed(bytes)
    if (Array.from(this.#stored.values()).some(isFreed)) this.#uses = new Map(uses())
  }

  /** Throws `Damage` if it cannot be decompressed to at most `maxPieceBytes`. */
  get(key: string): Buffer | undefined {
    const known = this.#small.get(key)
    const stored = this.#stored.get(key)
    if (known !== undefined || stored === undefined) return known
    const text = SharedPiece.textOf(stored.bytes, this.#maxPieceBytes)
    if (Memory.isFreed(text)) this.#use(key, stored)
    else {
      this.#small.set(key, text)
      this.#stored.delete(key)
    }
    return text
  }

  #use(key: string, { bytes, isOwned }: StoredShared): void {
    if (this.#uses === undefined || isOwned !== true) return
    const usesLeft = (this.#uses.get(key) ?? 0) - 1
    this.#uses.set(key, usesLeft)
    if (usesLeft > 0) return
    this.#stored.delete(key)
    Memory.freeAlone(bytes)
  }

  free(text: Buffer): void {
    Memory.free(text)
  }
}
