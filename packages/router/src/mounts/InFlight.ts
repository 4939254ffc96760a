/** How long `end` waits for what is under way, in milliseconds. */
const patience = 10_000

/** Counts what is under way, so that closing can wait for it. */
export class UnderWay {
  readonly #pending = new Set<Promise<unknown>>()

  add<A>(start: () => Promise<A>): Promise<A> {
    const work = start()
    const forget = () => void this.#pending.delete(work)
    this.#pending.add(work)
    work.then(forget, forget)
    return work
  }

  /** Resolves when nothing is under way, or when patience ends. */
  async end(): Promise<void> {
    let timer: NodeJS.Timeout | undefined
    const late = new Promise((resolve) => (timer = setTimeout(resolve, patience)))
    await Promise.race([Promise.allSettled(this.#pending), late])
    clearTimeout(timer)
  }
}
