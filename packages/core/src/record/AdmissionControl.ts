/**
 * Room in memory for what is on its way, whichever way it comes: bodies that are being received, and events that wait to be
 * written. What there is no room for is refused, before its body is read where that can be told.
 *
 * One alone is always taken, whatever its size.
 */
import type { CommitLimitsValue } from "./GroupCommit.ts"

export class AdmissionControl {
  readonly #limits: CommitLimitsValue
  readonly #isSaturated: () => boolean
  /** Bytes of all bodies, as far as they have come. */
  #reservedBytes = 0
  readonly #waiting = { events: 0, bytes: 0 }

  /** `isBehind` tells whether what comes now is likely to wait for longer than it may. */
  constructor(limits: CommitLimitsValue, isBehind: () => boolean) {
    this.#limits = limits
    this.#isSaturated = isBehind
  }

  /** `others` are bytes that are held for others. */
  #exceedsBodyBudget(others: number, bytes: number): boolean {
    return others > 0 && this.#reservedBytes + bytes > this.#limits.bodies
  }

  #isQueueFull(bytes: number): boolean {
    const { queue } = this.#limits
    const { bytes: waiting, events } = this.#waiting
    return events > 0 && (events >= queue.events || waiting + bytes > queue.bytes || this.#isSaturated())
  }

  /** Whether there is room for an event of so many bytes, of which nothing has come yet. */
  canAdmit(bytes: number): boolean {
    return !(this.#isQueueFull(bytes) || this.#exceedsBodyBudget(this.#reservedBytes, bytes))
  }

  /** A place for one request, which it has until it leaves. */
  permit(): Permit {
    let own = 0
    let isWaiting = false
    return {
      canAdmit: (bytes) => own > 0 || isWaiting || this.canAdmit(bytes),
      reserve: (bytes) => {
        if (this.#exceedsBodyBudget(this.#reservedBytes - own, bytes)) return false
        own += bytes
        this.#reservedBytes += bytes
        return true
      },
      enqueue: () => {
        if (isWaiting) return true
        if (this.#isQueueFull(own)) return false
        isWaiting = true
        this.#waiting.events++
        this.#waiting.bytes += own
        return true
      },
      wouldTimeOut: this.#isSaturated,
      release: () => {
        this.#reservedBytes -= own
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

export interface Permit {
  /** Whether there is room for an event of so many bytes, of which nothing has come yet. */
  readonly canAdmit: (bytes: number) => boolean
  /** Counts bytes that have come, before anybody keeps them. False where there is no room for them. */
  readonly reserve: (bytes: number) => boolean
  /** The body has come whole, and its event is to be written. False where too many wait for that. */
  readonly enqueue: () => boolean
  /** Whether it is likely to wait for longer than it may, if it is not waiting for the storage yet. */
  readonly wouldTimeOut: () => boolean
  readonly release: () => void
}
