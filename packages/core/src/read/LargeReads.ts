/** Lets a process free what large reads leave behind, before the next one. */
import * as Context from "effect/Context"

/**
 * Collects garbage. Does nothing by default: a process may have better things to do. A read frees what it has unpacked,
 * but leaves the event as it is stored, and V8 leaves more than 64 MiB of that uncollected.
 */
export const CollectGarbage = Context.Reference<() => void>("tachograph/core/CollectGarbage", {
  defaultValue: () => () => {}
})

/** Smaller reads are not counted: V8 collects what they leave in time (bytes). */
const minLargeBytes = 1024 * 1024

/** Large reads that together have this many bytes leave enough garbage to be collected. */
const collectFromBytes = 16 * 1024 * 1024

export class LargeReads {
  readonly #collect: () => void
  #bytes = 0

  constructor(collect: () => void) {
    this.#collect = collect
  }

  /** To be called before an event of this many bytes is read. */
  before(payloadBytes: number): void {
    if (payloadBytes < minLargeBytes) return
    if (this.#bytes >= collectFromBytes) {
      this.#bytes = 0
      this.#collect()
    }
    this.#bytes += payloadBytes
  }
}
