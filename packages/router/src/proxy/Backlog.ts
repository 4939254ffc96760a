/** Calls that passed and are not recorded yet: some at once, the oldest first, and again after an outage. */
import { backoffMs } from "@tachograph/capture/Retries"

/**
 * How long a call waits for others (ms), unless some are being recorded already. The more calls are recorded at once, the fewer commits
 * they take, and the fewer of the calls that pass meanwhile wait for the processor.
 */
export const gatherMs = 200

/** The longest pause after a failure (ms). */
const longestPauseMs = 5_000

/** The pause where the process is about to end (ms). */
const closingPauseMs = 100

/** A call that was tried so often lets others go first: it may be what fails. */
const attemptsInFront = 8

interface Attempted {
  readonly bytes: number
  /** How often it was tried. */
  attempts: number
  /** Whether no other may be tried at the same time: so that others do not share its fate. */
  isAlone: boolean
}

export class Backlog<Call extends Attempted> {
  readonly #attempt: (call: Call, done: (isSettled: boolean) => void) => void
  readonly #maxConcurrent: number
  readonly #gatherBytes: number
  readonly #waiting: Array<Call> = []
  readonly #again: Array<Call> = []
  readonly #onEmpty: Array<() => void> = []
  #active = 0
  /** Whether the one that is active is to be alone. */
  #isOneAlone = false
  /** Since the last success. */
  #failures = 0
  #timer: NodeJS.Timeout | undefined
  #gathering: NodeJS.Timeout | undefined
  #gatheredBytes = 0
  #isClosing = false
  #isStopped = false

  /**
   * `maxConcurrent` calls, or `gatherBytes` bytes of them, wait for no others. `attempt` calls back once: with false where the call is to
   * be tried again.
   */
  constructor(
    maxConcurrent: number,
    gatherBytes: number,
    attempt: (call: Call, done: (isSettled: boolean) => void) => void
  ) {
    this.#maxConcurrent = maxConcurrent
    this.#gatherBytes = gatherBytes
    this.#attempt = attempt
  }

  get size(): number {
    return this.#waiting.length + this.#again.length + this.#active
  }

  /** Returns whether the call will be attempted: not any more once the backlog was stopped. */
  add(call: Call): boolean {
    if (this.#isStopped) return false
    this.#waiting.push(call)
    this.#gatheredBytes += call.bytes
    this.#gathering ??= setTimeout(() => this.#endGathering(), gatherMs)
    if (this.#waiting.length >= this.#maxConcurrent || this.#gatheredBytes >= this.#gatherBytes) this.#endGathering()
    return true
  }

  #endGathering(): void {
    clearTimeout(this.#gathering)
    this.#gathering = undefined
    this.#gatheredBytes = 0
    this.#pump()
  }

  /** Tries without long pauses from now on. Resolves when nothing is left. */
  close(): Promise<void> {
    this.#isClosing = true
    this.#endPause()
    return this.size === 0 ? Promise.resolve() : new Promise((resolve) => this.#onEmpty.push(resolve))
  }

  /** Starts no other attempt. Returns how many calls are left, and how many of these are being attempted. */
  stop(): { readonly left: number; readonly underWay: number } {
    const [left, underWay] = [this.size, this.#active]
    clearTimeout(this.#timer)
    clearTimeout(this.#gathering)
    this.#waiting.length = 0
    this.#again.length = 0
    this.#isStopped = true
    return { left, underWay }
  }

  #endPause(): void {
    clearTimeout(this.#timer)
    this.#timer = undefined
    this.#pump()
  }

  #take(): Call | undefined {
    return this.#again.shift() ?? this.#waiting.shift()
  }

  #pump(): void {
    // After a failure one call finds out whether the others can go on.
    const limit = this.#failures === 0 ? this.#maxConcurrent : 1
    while (this.#timer === undefined && this.#active < limit && !this.#isOneAlone) {
      const next = this.#again[0] ?? this.#waiting[0]
      if (next?.isAlone === true && this.#active > 0) return
      const call = this.#take()
      if (call === undefined) return
      this.#active++
      this.#isOneAlone = call.isAlone
      call.attempts++
      this.#attempt(call, (isSettled) => this.#done(call, isSettled))
    }
  }

  #done(call: Call, isSettled: boolean): void {
    this.#active--
    this.#isOneAlone = false
    if (isSettled) this.#failures = 0
    else this.#fail(call)
    this.#pump()
    if (this.size === 0) for (const resolve of this.#onEmpty.splice(0)) resolve()
  }

  #fail(call: Call): void {
    if (this.#isStopped) return
    if (call.attempts < attemptsInFront) this.#again.push(call)
    else this.#waiting.push(call)
    if (this.#timer !== undefined) return
    this.#failures++
    this.#timer = setTimeout(
      () => this.#endPause(),
      this.#isClosing ? closingPauseMs : backoffMs(this.#failures, longestPauseMs)
    )
    this.#timer.unref()
  }
}
