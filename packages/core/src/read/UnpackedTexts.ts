/**
 * Texts of shared pieces, read from the storage in groups and unpacked when a read comes to them. A large text is freed before the
 * next, and what is stored of a group before the next group.
 */
import * as Effect from "effect/Effect"
import type { StorageUnavailable } from "../domain/Errors.ts"
import * as Memory from "../payload/format/Memory.ts"
import * as SharedPiece from "../payload/format/SharedPiece.ts"
import * as Join from "../payload/Join.ts"
import type { StoredShared } from "../storage/Stored.ts"

/** Texts of a group (bytes), unless it is one piece. */
const groupBytes = 4 * 1024 * 1024

/** Pieces of a group. The storage looks at the size of each. */
const maxGroupPieces = 4096

const firstOf = <A>(all: Iterable<A>, count: number): ReadonlyArray<A> => {
  const first: Array<A> = []
  for (const each of all) if (first.push(each) === count) break
  return first
}

/** As `Storage.readShared`, of one project. */
type ReadPieces = (
  names: ReadonlyArray<Uint8Array>,
  maxBytes?: number
) => Effect.Effect<ReadonlyArray<StoredShared>, StorageUnavailable>

/** As `SharedPiece.textOf`, of the piece with this key. */
type Unpack = (key: string, bytes: Uint8Array, maxBytes: number) => Buffer

export class UnpackedTexts implements Join.SharedTexts {
  readonly #read: ReadPieces
  readonly #totalBytes: number
  readonly #maxPieceBytes: number
  /** The names of the pieces that were not read yet, by their keys. */
  readonly #unread: Map<string, Uint8Array>
  readonly #stored = new Map<string, StoredShared>()
  /** Texts that are too small to be freed. They may occur often. */
  readonly #small = new Map<string, Buffer>()
  readonly #unpack: Unpack

  /**
   * `names` is best in the order in which the texts are asked for. Together they have at most `totalBytes`, and each has at most
   * `maxPieceBytes`.
   */
  constructor(
    read: ReadPieces,
    names: ReadonlyArray<Uint8Array>,
    { maxPieceBytes, totalBytes }: { readonly maxPieceBytes: number; readonly totalBytes: number },
    unpack: Unpack = (_name, bytes, maxBytes) => SharedPiece.textOf(bytes, maxBytes)
  ) {
    this.#read = read
    this.#unpack = unpack
    this.#unread = new Map(names.map((name) => [Join.keyOf(name), name]))
    this.#totalBytes = totalBytes
    this.#maxPieceBytes = maxPieceBytes
  }

  /** Reads a piece, if it exists, and others that were not read yet. */
  readonly load = Effect.fnUntraced(function* (this: UnpackedTexts, name: Uint8Array) {
    this.#freeStored()
    const key = Join.keyOf(name)
    // A large piece is read again, alone, where it occurs again.
    if (!this.#unread.has(key)) return yield* this.#add([name])
    if (this.#totalBytes <= groupBytes) return yield* this.#add(Array.from(this.#unread.values()))
    this.#unread.delete(key)
    const others = firstOf(this.#unread.values(), maxGroupPieces - 1)
    if (others.length > 0) yield* this.#add([name, ...others], groupBytes)
    // It is larger than a group, or the last one.
    if (!this.#stored.has(key)) yield* this.#add([name])
  })

  /** Throws `Damage` if it cannot be decompressed to at most `maxPieceBytes`. */
  get(key: string): Buffer | undefined {
    const known = this.#small.get(key)
    const stored = this.#stored.get(key)
    if (known !== undefined || stored === undefined) return known
    const text = this.#unpack(key, stored.bytes, this.#maxPieceBytes)
    if (!Memory.isFreeable(text)) {
      this.#small.set(key, text)
      this.#stored.delete(key)
    }
    return text
  }

  free(text: Buffer): void {
    Memory.free(text)
  }

  /** Frees what was read. */
  close(): void {
    this.#freeStored()
    this.#stored.clear()
  }

  readonly #add = Effect.fnUntraced(function* (
    this: UnpackedTexts,
    names: ReadonlyArray<Uint8Array>,
    maxBytes?: number
  ) {
    for (const piece of yield* this.#read(names, maxBytes)) {
      const key = Join.keyOf(piece.sha256)
      this.#stored.set(key, piece)
      this.#unread.delete(key)
    }
  })

  /** Small pieces are kept: each would take a round trip of its own. */
  #freeStored(): void {
    for (const [key, { bytes, isOwned }] of this.#stored) {
      if (!Memory.isLarge(bytes)) continue
      this.#stored.delete(key)
      if (isOwned === true) Memory.freeAlone(bytes)
    }
  }
}
