/** Collects the chunks of one body. The one place that judges its length, as sent or decompressed, and reserves its bytes. */
import { PayloadTooLargeError } from "@tachograph/api"
import { Errors, type Permit } from "@tachograph/core"
import { Chunks } from "../response/Chunks.ts"

export type BodyRefused = PayloadTooLargeError | Errors.Overloaded

export class BodyCollector {
  readonly #maxBytes: number
  readonly #permit: Pick<Permit, "reserve">
  readonly #chunks = new Chunks()

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
    return this.#chunks.count
  }

  /** Keeps a chunk, or answers why the body is refused. */
  add(chunk: Uint8Array): BodyRefused | undefined {
    if (this.exceedsMaxBody(this.#chunks.length + chunk.length)) return new PayloadTooLargeError()
    if (!this.#permit.reserve(chunk.length)) return new Errors.Overloaded()
    this.#chunks.add(chunk)
    return undefined
  }

  /** Bytes that are kept. */
  get length(): number {
    return this.#chunks.length
  }

  /** Copies the body to this place. */
  copyTo(target: Uint8Array, offset: number): void {
    this.#chunks.copyTo(target, offset)
  }

  /** Drops what was kept. */
  clear(): void {
    this.#chunks.clear()
  }

  /** Whether the memory of `bytes` is only theirs: not where they are the one chunk that arrived. */
  get isOwned(): boolean {
    return this.#chunks.isOwned
  }

  /** The whole body. */
  get bytes(): Buffer {
    return this.#chunks.bytes
  }
}
