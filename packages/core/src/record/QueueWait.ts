/**
 * How long events wait for a batch, in ticks: eighths of the time that they may wait. A tick passes only while the timer of
 * `GroupCommit` runs, so that a process that was suspended does not time out all that it holds at once.
 */

/** Resolution: the wait budget is divided into this many ticks. */
const ticksPerWait = 8

/** If an event has waited for this many ticks, a new one would probably time out. */
const overdueTicks = 6

/** Smallest batch that counts as a throughput sample, and how long a sample is used (ms). */
const minSampleEvents = 32
const sampleTtlMs = 5_000

/** Weight of the newest sample in the moving average. */
const sampleWeight = 0.2

export class QueueWait {
  readonly #waitMs: number
  readonly #now: () => number
  #tick = 0
  /** Moving average of the events that are committed in a second. */
  #throughput = { eventsPerSecond: Number.POSITIVE_INFINITY, sampledAtMs: Number.NEGATIVE_INFINITY }

  /** `waitMs` is the wait budget; `now` a monotonic clock in milliseconds. */
  constructor(waitMs: number, now: () => number = () => performance.now()) {
    this.#waitMs = waitMs
    this.#now = now
  }

  /** Milliseconds from one tick to the next. */
  get tickMs(): number {
    return this.#waitMs / ticksPerWait
  }

  advance(): void {
    this.#tick++
  }

  /** The tick at `arrivedAtMs`, a time on the clock `now`. */
  tickOf(arrivedAtMs: number = this.#now()): number {
    return this.#tick - Math.floor((this.#now() - arrivedAtMs) / this.tickMs)
  }

  /** Whether an event that began to wait in this tick has exhausted the wait budget. */
  isExpired(tick: number): boolean {
    return this.#tick - tick >= ticksPerWait
  }

  /** Whether it has waited for so long that a new event would probably time out. */
  isOverdue(tick: number): boolean {
    return this.#tick - tick >= overdueTicks
  }

  /**
   * Learns from a batch that took `seconds`, from when its place was free to its end, of which `concurrency` are committed at the same time.
   */
  sampleThroughput(events: number, seconds: number, concurrency: number): void {
    if (events < minSampleEvents) return
    const sampledAtMs = this.#now()
    const sample = (concurrency * events) / seconds
    const previous = this.#isSampleFresh(sampledAtMs) ? this.#throughput.eventsPerSecond : sample
    const eventsPerSecond = (1 - sampleWeight) * previous + sampleWeight * sample
    this.#throughput = { eventsPerSecond, sampledAtMs }
  }

  /** How many events are committed in nearly all of the wait budget; infinite while that is unknown. */
  get eventsInBudget(): number {
    if (!this.#isSampleFresh(this.#now())) return Number.POSITIVE_INFINITY
    return this.#throughput.eventsPerSecond * (this.#waitMs / 1000) * (overdueTicks / ticksPerWait)
  }

  #isSampleFresh(nowMs: number): boolean {
    return nowMs - this.#throughput.sampledAtMs < sampleTtlMs
  }
}
