/** Lets so many works run at once, and others wait in little memory: of a burst of calls each is a few words until its turn comes. */
import type { Budget } from "./delivery/Budget.ts"
import type { DropReason } from "./delivery/Counters.ts"

type Work = () => Promise<void>

/** What a call that waits for its turn counts beside its texts (bytes), for the objects that hold it. */
const waitingBytes = 640

export class Turns {
  readonly #limit: number
  readonly #budget: Budget | undefined
  /** The first that came last. */
  #next: Array<Work> = []
  /** Those that came after them, in their order. */
  #later: Array<Work> = []
  readonly #active = new Set<Promise<void>>()
  /** Those that wait only to tell that their turn has come. */
  readonly #marks = new Set<Work>()

  /** Without a budget, none waits. */
  constructor(limit: number, budget?: Budget) {
    this.#limit = limit
    this.#budget = budget
  }

  /** How many run or wait. */
  get size(): number {
    return this.#active.size + this.#waiting - this.#marks.size
  }

  get #waiting(): number {
    return this.#next.length + this.#later.length
  }

  /** Runs a work, which never rejects, now or when others have ended. Returns why it does not. */
  add(work: Work): Extract<DropReason, "memory" | "queue-full"> | undefined {
    if (this.#active.size < this.#limit && this.#waiting === 0) {
      this.#run(work)
      return undefined
    }
    if (this.#budget === undefined) return "queue-full"
    if (!this.#budget.take(waitingBytes)) return "memory"
    this.#later.push(work)
    return undefined
  }

  /** Resolves when those are done that run or wait now, though others keep coming. */
  async done(): Promise<void> {
    if (this.#waiting > 0) await this.#turn()
    await Promise.all(this.#active)
  }

  /** Resolves when those that wait now have begun. */
  #turn(): Promise<void> {
    return new Promise((resolve) => {
      const mark = async () => resolve()
      this.#marks.add(mark)
      this.#later.push(mark)
    })
  }

  #run(work: Work): void {
    const running = work().then(() => {
      this.#active.delete(running)
      const next = this.#shift()
      if (next !== undefined) this.#run(next)
    })
    this.#active.add(running)
  }

  #shift(): Work | undefined {
    if (this.#next.length === 0) {
      this.#next = this.#later.reverse()
      this.#later = []
    }
    const next = this.#next.pop()
    if (next !== undefined && !this.#marks.delete(next)) this.#budget?.release(waitingBytes)
    return next
  }
}
