/** A least-recently-used cache, bounded in bytes. */

interface Entry<Value> {
  readonly value: Value
  readonly bytes: number
}

export class LruCache<Key, Value> {
  readonly #maxBytes: number
  readonly #onDrop: (value: Value) => void
  /** Least recently used first. */
  readonly #entries = new Map<Key, Entry<Value>>()
  #bytes = 0

  /** `onDrop` is given each value that is no longer kept. */
  constructor(maxBytes: number, onDrop: (value: Value) => void = () => {}) {
    this.#maxBytes = maxBytes
    this.#onDrop = onDrop
  }

  get(key: Key): Value | undefined {
    const entry = this.#entries.get(key)
    if (entry === undefined) return undefined
    this.#entries.delete(key)
    this.#entries.set(key, entry)
    return entry.value
  }

  /** Whether a value can be kept. */
  fits(bytes: number): boolean {
    return bytes <= this.#maxBytes
  }

  /** A value that does not fit is not kept, and not given to `onDrop`. */
  set(key: Key, value: Value, bytes: number): void {
    this.delete(key)
    if (!this.fits(bytes)) return
    this.#entries.set(key, { value, bytes })
    this.#bytes += bytes
    for (const oldest of this.#entries.keys()) {
      if (this.#bytes <= this.#maxBytes) break
      this.delete(oldest)
    }
  }

  clear(): void {
    for (const key of this.#entries.keys()) this.delete(key)
  }

  delete(key: Key): void {
    const entry = this.#entries.get(key)
    if (entry === undefined) return
    this.#entries.delete(key)
    this.#bytes -= entry.bytes
    this.#onDrop(entry.value)
  }

  deleteWhere(matches: (value: Value) => boolean): void {
    for (const [key, { value }] of this.#entries) if (matches(value)) this.delete(key)
  }
}
