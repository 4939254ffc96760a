/**
 * The order in which events are sent. The oldest goes first. An event that failed lets others try. Where they fail too, as while the
 * server is away, all keep their order. Where they get through, it is the event itself that fails: it waits alone then, longer after
 * each failure, and does not hold up the others.
 */
import * as Timers from "../platform/Timers.ts"
import { backoffMs } from "./Backoff.ts"

/** The longest wait of an event that fails while others get through (ms). */
const longestAloneMs = 5 * 60 * 1000

/** A quarter of the events that are sent at once may be known to fail: each of these may keep its place until a timeout. */
const shareAlone = 4

/** An event in the queue. */
export interface Queued {
  /** The order of adding. */
  readonly number: number
  /** How many events had got through when this one failed last. */
  sentBefore: number | undefined
  /** How often it failed since it is known to fail while others get through. */
  failuresAlone: number
}

interface Wait {
  readonly stop: () => void
  /** Whether the server has asked for it. */
  readonly isAsked: boolean
}

export class Queue<Entry extends Queued> {
  #waiting: Array<Entry> = []
  /** What failed since an event got through last. */
  #tried: Array<Entry> = []
  /** What waits alone. */
  readonly #alone = new Map<Entry, Wait>()
  /** What has waited alone, and is to be tried again. */
  readonly #due: Array<Entry> = []
  /** What is tried again of it. */
  readonly #retrying = new Set<Entry>()
  readonly #wake: () => void
  #added = 0
  #sent = 0

  /** `wake` is called when an event has waited long enough. */
  constructor(wake: () => void) {
    this.#wake = wake
  }

  get size(): number {
    return this.#waiting.length + this.#tried.length + this.#alone.size + this.#due.length
  }

  place(): Queued {
    return { number: this.#added++, sentBefore: undefined, failuresAlone: 0 }
  }

  add(entry: Entry): void {
    this.#waiting.push(entry)
  }

  /** The next event to send, of `concurrency` at once. One that `isProbe` finds out whether the server is back. */
  take(concurrency: number, isProbe: boolean): Entry | undefined {
    const hasOthers = this.#waiting.length + this.#tried.length > 0
    const mayRetry = this.#retrying.size < Math.max(1, Math.floor(concurrency / shareAlone)) && !(isProbe && hasOthers)
    const entry = (mayRetry ? this.#due.shift() : undefined) ?? this.#waiting.shift() ?? this.#tried.shift()
    if (entry !== undefined && entry.failuresAlone > 0) this.#retrying.add(entry)
    return entry
  }

  /** A taken event got through, so that the server is there. After an outage it is unknown what else fails. */
  succeeded(isAfterOutage: boolean): void {
    this.#sent++
    if (isAfterOutage) this.hurry()
    if (this.#tried.length === 0) return
    this.#waiting = [...this.#tried.sort((a, b) => a.number - b.number), ...this.#waiting]
    this.#tried = []
  }

  /** A taken event is sent, dropped or postponed. */
  leave(entry: Entry): void {
    this.#retrying.delete(entry)
  }

  /** Takes those that come next, as long as they fit. */
  takeWhile(fits: (entry: Entry) => boolean): Array<Entry> {
    const end = this.#waiting.findIndex((entry) => !fits(entry))
    return this.#waiting.splice(0, end === -1 ? Infinity : end)
  }

  /** Taken events, in their order, are to be sent again at once. */
  again(...entries: ReadonlyArray<Entry>): void {
    for (const entry of entries) this.#retrying.delete(entry)
    this.#waiting.unshift(...entries)
  }

  /**
   * A taken event has failed, and is to be sent again. Returns whether it waits alone: at most `longestMs`, but as long as the server
   * asks for. Otherwise it waits with all others.
   */
  failed(entry: Entry, longestMs: number, askedMs = 0): boolean {
    this.#retrying.delete(entry)
    const { failuresAlone, sentBefore = this.#sent } = entry
    if (failuresAlone > 0 || sentBefore < this.#sent) entry.failuresAlone++
    entry.sentBefore = this.#sent
    if (entry.failuresAlone === 0) {
      this.#tried.push(entry)
      return false
    }
    const ownMs = Math.min(longestMs, backoffMs(entry.failuresAlone + 1, longestAloneMs))
    const stop = Timers.after(Math.max(ownMs, askedMs), () => {
      this.#alone.delete(entry)
      this.#due.push(entry)
      this.#wake()
    })
    this.#alone.set(entry, { stop, isAsked: askedMs > ownMs })
    return true
  }

  /** Ends the waits that the server has not asked for. */
  hurry(): void {
    for (const [entry, { isAsked, stop }] of this.#alone) {
      if (isAsked) continue
      stop()
      this.#alone.delete(entry)
      this.#due.push(entry)
    }
  }
}
