/** Collects the chunks of one body. The one place that judges its length, as sent or decompressed, and reserves its bytes. */
import { PayloadTooLargeError } from "@tachograph/api"
import { Errors, type Permit } from "@tachograph/core"
import { Chunks } from "../response/Chunks.ts"

export type BodyRefused = PayloadTooLargeError | Errors.Overloaded

export class BodyCollector extends Chunks {
  readonly #maxBytes: number
  readonly #permit: Pick<Permit, "reserve">

  constructor(maxBytes: number, permit: Pick<Permit, "reserve">) {
    super()
    this.#maxBytes = maxBytes
    this.#permit = permit
  }

  /** Whether a body of this length is too large, before any of it has arrived. */
  exceedsMaxBody(bytes: number): boolean {
    return bytes > this.#maxBytes
  }

  /** Keeps a chunk, or answers why the body is refused. */
  override add(chunk: Uint8Array): BodyRefused | undefined {
    if (this.exceedsMaxBody(this.length + chunk.length)) return new PayloadTooLargeError()
    if (!this.#permit.reserve(chunk.length)) return new Errors.Overloaded()
    super.add(chunk)
    return undefined
  }
}
