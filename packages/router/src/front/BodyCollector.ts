/** Collects the chunks of one body. The one place that judges its length, as sent or decompressed, and reserves its bytes. */
import { PayloadTooLargeError } from "@tachograph/api"
import { Errors, type Permit } from "@tachograph/core"

export type BodyRefused = PayloadTooLargeError | Errors.Overloaded

export class BodyCollector {
  readonly #maxBytes: number
  readonly #permit: Permit
  readonly #chunks: Array<Uint8Array> = []
  #size = 0

  constructor(maxBytes: number, permit: Permit) {
    this.#maxBytes = maxBytes
    this.#permit = permit
  }

  /** Whether a body of this length is too large, before any of it has arrived. */
  exceedsMaxBody(bytes: number): boolean {
    return bytes > this.#maxBytes
  }

  /** Keeps a chunk, or answers why the body is refused. */
  add(chunk: Uint8Array): BodyRefused | undefined {
    this.#size += chunk.length
    if (this.exceedsMaxBody(this.#size)) return new PayloadTooLargeError()
    if (!this.#permit.reserve(chunk.length)) return new Errors.Overloaded()
    this.#chunks.push(chunk)
    return undefined
  }

  /** The whole body. */
  get bytes(): Buffer {
    const only = this.#chunks.length === 1 ? this.#chunks[0]! : undefined
    if (only === undefined) return Buffer.concat(this.#chunks, this.#size)
    return Buffer.from(only.buffer, only.byteOffset, only.byteLength)
  }
}
