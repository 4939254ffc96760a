/** Watches whether an answer is read on. The time that the application waits for the provider does not count. */
import * as Timers from "./Timers.ts"

export class Reading {
  readonly #unreadMs: number
  readonly #onUnread: () => void
  #stopTimer: (() => void) | undefined
  /** When the application took the last part, and whether it waits for another one. */
  #readAt = performance.now()
  #isWaiting = false

  /** `onUnread` is called once, if the answer lies unread for `unreadMs`. */
  constructor(unreadMs: number, onUnread: () => void) {
    this.#unreadMs = unreadMs
    this.#onUnread = onUnread
    this.#watch(unreadMs)
  }

  /** The application waits for the next part. */
  waits(): void {
    this.#isWaiting = true
  }

  /** The application has got a part. Returns when, as `performance.now()` says it. */
  took(): number {
    this.#isWaiting = false
    return (this.#readAt = performance.now())
  }

  stop(): void {
    this.#stopTimer?.()
  }

  #watch(waitMs: number): void {
    this.#stopTimer = Timers.after(waitMs, () => {
      if (this.#isWaiting) return this.#watch(this.#unreadMs)
      const leftMs = this.#unreadMs - (performance.now() - this.#readAt)
      if (leftMs <= 0) this.#onUnread()
      else this.#watch(leftMs)
    })
  }
}
