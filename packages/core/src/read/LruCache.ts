/** A least-recently-used cache, bounded in bytes. */

export class LruCache<Key, Value> {
  readonly #maxBytes: number
  /** Least recently used first. */
  readonly #entries = new Map<Key, { readonly value: Value; readonly bytes: number }>()
  #bytes = 0

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes
  }

  get(key: Key): Value | undefined {
    const entry = this.#entries.get(key)
    if (entry === undefined) return undefined
    this.#entries.delete(key)
    this.#entries.set(key, entry)
    return entry.value
  }

  /** False if it is larger than the cache: then it is not kept. */
  set(key: Key, value: Value, bytes: number): boolean {
    this.delete(key)
    if (bytes > this.#maxBytes) return false
    this.#entries.set(key, { value, bytes })
    this.#bytes += bytes
    for (const oldest of this.#entries.keys()) {
      if (this.#bytes <= this.#maxBytes) break
      this.delete(oldest)
    }
    return true
  }

  clear(): void {
    this.#entries.clear()
    this.#bytes = 0
  }

  delete(key: Key): void {
    this.#bytes -= this.#entries.get(key)?.bytes ?? 0
    this.#entries.delete(key)
  }
}
