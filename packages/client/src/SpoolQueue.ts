/** Sends the events of a spool: those that were just written, and those that earlier processes or a full queue have left there. */
import { backoffMs } from "./delivery/Backoff.ts"
import type { Delivery } from "./delivery/Delivery.ts"
import * as Timers from "./platform/Timers.ts"
import type { Spool, SpoolEntry } from "./spool/Spool.ts"

/** A folder that cannot be read is looked at again after the pause that follows this number of failures: some seconds. */
const failuresOfUnreadable = 5

export interface SpoolQueueOptions {
  readonly spool: Spool
  readonly delivery: Delivery
  /** Called where the folder cannot be read. What lies there waits. */
  readonly onUnusable: (cause: unknown) => void
  /** How many names of files are known beside those in the queue. */
  readonly maxKnown: number
  /** Takes work that a flush waits for. */
  readonly track: (work: Promise<void>) => void
}

export class SpoolQueue {
  readonly #options: SpoolQueueOptions
  /** Keys of events that are in the queue. */
  readonly #queued = new Set<string>()
  /** Events that could not be sent, by their keys, and wait on disk until a timer ends and the folder can be read. */
  readonly #postponed = new Map<string, SpoolEntry>()
  /** Whether that timer has ended since the folder was read. */
  #isRetrying = false
  /** How often events that are still on disk were postponed. */
  readonly #postponements = new Map<string, number>()
  /** Events that wait on disk for room in the queue, the oldest first. */
  #backlog: Array<SpoolEntry> = []
  /** Whether the folder may hold events that are in neither. */
  #hasMore = true
  /** Keys of files that were removed while the folder was read. */
  #removed: Set<string> | undefined
  #isWaiting = false

  constructor(options: SpoolQueueOptions) {
    this.#options = options
    // What earlier processes have left.
    this.#refill()
  }

  /** How many events wait on disk that could not be sent. */
  get postponed(): number {
    return this.#postponed.size
  }

  /** Whether events wait on disk for room in the queue. */
  get hasBacklog(): boolean {
    return this.#backlog.length > 0 || this.#hasMore || this.#removed !== undefined
  }

  /** Sends an event that was written, after those that wait for room. `settle` is called when it is sent, dropped, or left on disk. */
  add(entry: SpoolEntry, settle: () => void): void {
    const { delivery, maxKnown } = this.#options
    if (delivery.hasRoom && this.#backlog.length === 0) return this.#enqueue(entry, settle)
    // Older ones that are not known come first.
    if (this.#hasMore || this.#removed !== undefined || this.#backlog.length >= maxKnown) this.#hasMore = true
    else this.#backlog.push(entry)
    settle()
  }

  #enqueue(entry: SpoolEntry, settle: () => void): void {
    const { delivery, spool, track } = this.#options
    const { idempotencyKey } = entry
    this.#queued.add(idempotencyKey)
    delivery.add({
      idempotencyKey,
      bytes: entry.bytes,
      isAgain: this.#postponements.has(idempotencyKey),
      load: () => spool.read(entry),
      settled: () => {
        this.#postponements.delete(idempotencyKey)
        const removed = spool.remove(entry).then(
          () => {
            this.#queued.delete(idempotencyKey)
            this.#removed?.add(idempotencyKey)
          },
          // It is sent, and not sent again before the next process does so, by the same key.
          () => {}
        )
        track(removed.then(settle))
        this.#refill()
      },
      postponed: () => {
        this.#queued.delete(idempotencyKey)
        this.#postponed.set(idempotencyKey, entry)
        settle()
        const times = (this.#postponements.get(idempotencyKey) ?? 0) + 1
        this.#postponements.set(idempotencyKey, times)
        this.#tryAgainLater(times)
        this.#refill()
      }
    })
  }

  /** Sends what was postponed once more. */
  #tryAgainLater(failures: number): void {
    if (this.#isWaiting) return
    this.#isWaiting = true
    Timers.after(backoffMs(failures), () => {
      this.#isWaiting = false
      this.#isRetrying = true
      this.#hasMore = true
      this.#refill()
    })
  }

  /** Takes events that are only on disk into the queue, as far as there is room. */
  #refill(): void {
    const { delivery } = this.#options
    while (this.#backlog.length > 0 && delivery.hasRoom) this.#enqueue(this.#backlog.shift()!, () => {})
    if (this.#hasMore && this.#removed === undefined && delivery.hasRoom) this.#options.track(this.#list())
  }

  /** Ends the wait of what was postponed. Returns those of them that the folder does not hold any more: reading them says why. */
  #retried(entries: ReadonlyArray<SpoolEntry>): ReadonlyArray<SpoolEntry> {
    if (!this.#isRetrying) return []
    this.#isRetrying = false
    const there = new Set(entries.map(({ idempotencyKey }) => idempotencyKey))
    const gone = Array.from(this.#postponed.values()).filter(({ idempotencyKey }) => !there.has(idempotencyKey))
    this.#postponed.clear()
    return gone
  }

  async #list(): Promise<void> {
    const { maxKnown, onUnusable, spool } = this.#options
    const removed = (this.#removed = new Set<string>())
    this.#hasMore = false
    try {
      const entries = await spool.list()
      const gone = this.#retried(entries)
      const isKnown = ({ idempotencyKey: key }: SpoolEntry) =>
        this.#queued.has(key) || this.#postponed.has(key) || removed.has(key)
      const waiting = [...gone, ...entries].filter((entry) => !isKnown(entry))
      this.#backlog = waiting.slice(0, maxKnown)
      this.#hasMore ||= waiting.length > maxKnown
    } catch (cause) {
      onUnusable(cause)
      this.#tryAgainLater(failuresOfUnreadable)
    }
    this.#removed = undefined
    this.#refill()
  }
}
