/**
 * Room in memory for what is on its way, whichever way it comes: bodies that are being received, and events that wait to be
 * written. What there is no room for is refused, before its body is read where that can be told.
 *
 * One alone is always taken, whatever its size.
 */
import type { WriterLimitsValue } from "./GroupCommit.ts"

export class Room {
  readonly #limits: WriterLimitsValue
  readonly #isBehind: () => boolean
  /** Bytes of all bodies, as far as they have come. */
  #held = 0
  readonly #waiting = { events: 0, bytes: 0 }

  /** `isBehind` tells whether what comes now is likely to wait for longer than it may. */
  constructor(limits: WriterLimitsValue, isBehind: () => boolean) {
    this.#limits = limits
    this.#isBehind = isBehind
  }

  /** `others` are bytes that are held for others. */
  #isCrowded(others: number, bytes: number): boolean {
    return others > 0 && this.#held + bytes > this.#limits.bodies
  }

  #isQueueFull(bytes: number): boolean {
    const { queue } = this.#limits
    const { bytes: waiting, events } = this.#waiting
    return events > 0 && (events >= queue.events || waiting + bytes > queue.bytes || this.#isBehind())
  }

  /** Whether there is room for an event of so many bytes, of which nothing has come yet. */
  mayCome(bytes: number): boolean {
    return !(this.#isQueueFull(bytes) || this.#isCrowded(this.#held, bytes))
  }

  /** A place for one request, which it has until it leaves. */
  enter(): Place {
    let own = 0
    let isWaiting = false
    return {
      mayCome: (bytes) => own > 0 || isWaiting || this.mayCome(bytes),
      hold: (bytes) => {
        if (this.#isCrowded(this.#held - own, bytes)) return false
        own += bytes
        this.#held += bytes
        return true
      },
      wait: () => {
        if (isWaiting) return true
        if (this.#isQueueFull(own)) return false
        isWaiting = true
        this.#waiting.events++
        this.#waiting.bytes += own
        return true
      },
      isInVain: this.#isBehind,
      leave: () => {
        this.#held -= own
        if (isWaiting) {
          this.#waiting.events--
          this.#waiting.bytes -= own
        }
        own = 0
        isWaiting = false
      }
    }
  }
}

export interface Place {
  /** Whether there is room for an event of so many bytes, of which nothing has come yet. */
  readonly mayCome: (bytes: number) => boolean
  /** Counts bytes that have come, before anybody keeps them. False where there is no room for them. */
  readonly hold: (bytes: number) => boolean
  /** The body has come whole, and its event is to be written. False where too many wait for that. */
  readonly wait: () => boolean
  /** Whether it is likely to wait for longer than it may, if it is not waiting for the storage yet. */
  readonly isInVain: () => boolean
  readonly leave: () => void
}
