/** Bytes that come in chunks, of whatever sizes their sender chooses. */
import { Buffer } from "node:buffer"

/**
 * Chunks below this size (bytes) are copied into blocks, of which each is twice as large as the one before: a chunk of one byte
 * takes a hundred bytes of memory.
 */
const smallChunkBytes = 1024
const maxBlockBytes = 16 * 1024

export class Chunks {
  readonly #chunks: Array<Uint8Array> = []
  /** The last chunk is the start of this block, if it consists of small chunks. */
  #block: Uint8Array | undefined
  #blockUsed = 0
  #length = 0

  /** How many chunks are held. */
  get count(): number {
    return this.#chunks.length
  }

  /** Bytes that are held. */
  get length(): number {
    return this.#length
  }

  add(chunk: Uint8Array): void {
    this.#length += chunk.length
    // The first chunk is kept as it is: most bodies are one chunk.
    if (this.#chunks.length === 0 || chunk.length >= smallChunkBytes) {
      this.#block = undefined
      this.#chunks.push(chunk)
    } else {
      this.#addToBlock(chunk)
    }
  }

  #addToBlock(chunk: Uint8Array): void {
    if (this.#block === undefined || this.#blockUsed + chunk.length > this.#block.length) {
      const blockBytes = this.#block === undefined ? smallChunkBytes : 2 * this.#block.length
      this.#block = new Uint8Array(Math.min(blockBytes, maxBlockBytes))
      this.#blockUsed = 0
      this.#chunks.push(this.#block)
    }
    this.#block.set(chunk, this.#blockUsed)
    this.#blockUsed += chunk.length
    this.#chunks[this.#chunks.length - 1] = this.#block.subarray(0, this.#blockUsed)
  }

  /** Copies the bytes to this place. */
  copyTo(target: Uint8Array, offset: number): void {
    let at = offset
    for (const chunk of this.#chunks) {
      target.set(chunk, at)
      at += chunk.length
    }
  }

  /** Drops what was held. */
  clear(): void {
    this.#chunks.length = 0
    this.#block = undefined
    this.#length = 0
  }

  /** Whether the memory of `bytes` is only theirs: not where they are the one chunk that came. */
  get isOwned(): boolean {
    return this.#chunks.length > 1
  }

  /** All bytes. */
  get bytes(): Buffer {
    const only = this.#chunks.length === 1 ? this.#chunks[0]! : undefined
    if (only === undefined) return Buffer.concat(this.#chunks, this.#length)
    return Buffer.from(only.buffer, only.byteOffset, only.byteLength)
  }
}
