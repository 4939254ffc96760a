/** Counts the bytes that calls under way and waiting events hold, up to a bound. */
export class Budget {
  readonly #limit: number
  #held = 0

  constructor(limit: number) {
    this.#limit = limit
  }

  get held(): number {
    return this.#held
  }

  hasRoomFor(bytes: number): boolean {
    return this.#held + bytes <= this.#limit
  }

  /** Whether there was room. */
  take(bytes: number): boolean {
    if (!this.hasRoomFor(bytes)) return false
    this.#held += bytes
    return true
  }

  release(bytes: number): void {
    this.#held -= bytes
  }
}
