/** Collects what is sent in one turn of the event loop, and sends it in few messages: each message wakes the other thread. */
import type { MessagePort, Transferable, Worker } from "node:worker_threads"

/**
 * What is sent before the end of a turn, which under overload may read thousands of requests: the other thread would have nothing to do
 * meanwhile.
 */
const maxItems = 64

export class Outbox<Item> {
  readonly #port: Pick<MessagePort | Worker, "postMessage">
  #items: Array<Item> = []
  #transfers: Array<Transferable> = []

  constructor(port: Pick<MessagePort | Worker, "postMessage">) {
    this.#port = port
  }

  /** `transfers` are moved, not copied: this thread cannot use them any more. */
  send(item: Item, transfers: ReadonlyArray<Transferable> = []): void {
    this.#transfers.push(...transfers)
    const length = this.#items.push(item)
    if (length === 1) setImmediate(() => this.flush())
    else if (length === maxItems) this.flush()
  }

  /** Sends at once. */
  flush(): void {
    const [items, transfers] = [this.#items, this.#transfers]
    if (items.length === 0) return
    this.#items = []
    this.#transfers = []
    this.#port.postMessage(items, transfers)
  }
}

/** The same bytes, which can be transferred: copied, unless `isOwned` and nothing else is in their memory. */
export const movable = (bytes: Uint8Array, isOwned: boolean): Uint8Array<ArrayBuffer> =>
  isOwned && bytes.byteLength === bytes.buffer.byteLength && bytes.buffer instanceof ArrayBuffer
    ? (bytes as Uint8Array<ArrayBuffer>)
    : Uint8Array.from(bytes)
