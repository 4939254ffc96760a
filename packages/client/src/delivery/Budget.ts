/**
 * Counts the bytes that calls under way and waiting events hold, up to a bound. A text counts its units of UTF-16, each of which V8
 * holds in one byte where all are below U+0100, and otherwise in two.
 */
export class Budget {
  readonly #limit: number
  #held = 0

  /** `limit` is in bytes. */
  constructor(limit: number) {
    this.#limit = limit
  }

  /** In bytes. */
  get held(): number {
    return this.#held
  }

  hasRoomFor(bytes: number): boolean {
    return this.#held + bytes <= this.#limit
  }

  /** Holds bytes more, if there is room for them. Returns whether there was. */
  take(bytes: number): boolean {
    if (!this.hasRoomFor(bytes)) return false
    this.#held += bytes
    return true
  }

  /** Gives bytes back. A negative number takes them, room or not. */
  release(bytes: number): void {
    this.#held -= bytes
  }
}
