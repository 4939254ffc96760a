/** A log of what may happen very often: at most one line in a time, each with how many it stands for beside itself. */

/** The time (ms). During an outage every call fails for the same reason. */
const intervalMs = 1_000

export class BurstLog<Said> {
  readonly #write: (said: Said, others: number) => void
  #timer: NodeJS.Timeout | undefined
  #last: Said | undefined
  #withheld = 0

  constructor(write: (said: Said, others: number) => void) {
    this.#write = write
  }

  say(said: Said): void {
    if (this.#timer === undefined) return this.#say(said, 0)
    this.#last = said
    this.#withheld++
  }

  /** Writes what is withheld. */
  end(): void {
    clearTimeout(this.#timer)
    this.#timer = undefined
    const withheld = this.#withheld
    this.#withheld = 0
    if (withheld > 0) this.#say(this.#last!, withheld - 1)
  }

  #say(said: Said, others: number): void {
    this.#write(said, others)
    this.#timer = setTimeout(() => this.end(), intervalMs).unref()
  }
}
