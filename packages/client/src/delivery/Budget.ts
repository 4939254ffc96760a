/**
 * Counts the bytes that calls under way and waiting events hold, up to a bound. Of texts these are units of UTF-16, of which V8 holds
 * one byte each where all are below U+0100, and otherwise two.
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
