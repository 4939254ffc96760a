/** Collects the chunks of one body. The one place that judges its length, as sent or decompressed, and reserves its bytes. */
import { PayloadTooLargeError } from "@tachograph/api"
import { Errors, type Permit } from "@tachograph/core"

export type BodyRefused = PayloadTooLargeError | Errors.Overloaded

/**
 * Chunks below this size (bytes) are copied into blocks, of which each is twice as large as the one before. A client chooses
 * the size of its chunks, and a chunk of one byte takes a hundred bytes of memory.
 */
const smallChunkBytes = 1024
const maxBlockBytes = 16 * 1024

export class BodyCollector {
  readonly #maxBytes: number
  readonly #permit: Pick<Permit, "reserve">
  readonly #chunks: Array<Uint8Array> = []
  /** The last chunk is the start of this block, if it consists of small chunks. */
  #block: Uint8Array | undefined
  #blockUsed = 0
  #size = 0

  constructor(maxBytes: number, permit: Pick<Permit, "reserve">) {
    this.#maxBytes = maxBytes
    this.#permit = permit
  }

  /** Whether a body of this length is too large, before any of it has arrived. */
  exceedsMaxBody(bytes: number): boolean {
    return bytes > this.#maxBytes
  }

  /** How many chunks are held. */
  get chunks(): number {
    return this.#chunks.length
  }

  /** Keeps a chunk, or answers why the body is refused. */
  add(chunk: Uint8Array): BodyRefused | undefined {
    this.#size += chunk.length
    if (this.exceedsMaxBody(this.#size)) return new PayloadTooLargeError()
    if (!this.#permit.reserve(chunk.length)) return new Errors.Overloaded()
    // The first chunk is kept as it is: most bodies are one chunk.
    if (this.#chunks.length === 0 || chunk.length >= smallChunkBytes) {
      this.#block = undefined
      this.#chunks.push(chunk)
    } else {
      this.#addToBlock(chunk)
    }
    return undefined
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

  /** Bytes that are kept. */
  get length(): number {
    return this.#size
  }

  /** Copies the body to this place. */
  copyTo(target: Uint8Array, offset: number): void {
    let at = offset
    for (const chunk of this.#chunks) {
      target.set(chunk, at)
      at += chunk.length
    }
  }

  /** Drops what was kept. */
  clear(): void {
    this.#chunks.length = 0
    this.#block = undefined
    this.#size = 0
  }

  /** Whether the memory of `bytes` belongs to nobody else: not where they are the one chunk that arrived. */
  get isOwned(): boolean {
    return this.#chunks.length > 1
  }

  /** The whole body. */
  get bytes(): Buffer {
    const only = this.#chunks.length === 1 ? this.#chunks[0]! : undefined
    if (only === undefined) return Buffer.concat(this.#chunks, this.#size)
    return Buffer.from(only.buffer, only.byteOffset, only.byteLength)
  }
}
