/** What the sessions of groups of calls add up to: how many there are, and what one of them costs. */
import * as SessionFigures from "./SessionFigures.ts"
import type { GroupKey } from "./UsageGroups.ts"

type Figures = SessionFigures.Figures

/** How many costs there is room for at first. */
const firstRoom = 16

export class SessionSums {
  /** What the sessions cost that are closed, in billionths of a dollar. */
  #costs = new BigUint64Array(firstRoom)
  #sessions = 0
  #unpricedSessions = 0
  #all = SessionFigures.none
  /** The session whose calls are being added. */
  #open: { readonly session: number; figures: Figures } | undefined
  lastMs = 0

  /** Adds calls of a session. Those of one session come one after another. */
  add(session: number, figures: Figures, lastMs: number): void {
    if (this.#open?.session !== session) {
      this.#close()
      this.#open = { session, figures }
    } else this.#open.figures = SessionFigures.sumOf(this.#open.figures, figures)
    this.lastMs = Math.max(this.lastMs, lastMs)
  }

  #close(): void {
    if (this.#open === undefined) return
    const { figures } = this.#open
    this.#open = undefined
    this.#all = SessionFigures.sumOf(this.#all, figures)
    if (figures.unpriced + figures.partlyPriced > 0) this.#unpricedSessions++
    if (this.#sessions === this.#costs.length) {
      const grown = new BigUint64Array(2 * this.#sessions)
      grown.set(this.#costs)
      this.#costs = grown
    }
    this.#costs[this.#sessions++] = figures.cost
  }

  /** Of all calls. */
  get figures(): Figures {
    this.#close()
    return this.#all
  }

  get sessions(): number {
    this.#close()
    return this.#sessions
  }

  /** Sessions with a call that has no cost, or whose cost leaves something out. */
  get unpricedSessions(): number {
    this.#close()
    return this.#unpricedSessions
  }

  /** Of a session, in billionths of a dollar; null if no call has a cost. Calls without one count as nothing. */
  get costPerSession(): { readonly mean: bigint; readonly median: bigint; readonly p95: bigint } | null {
    const { cost, events, unpriced } = this.figures
    if (unpriced === events) return null
    const sorted = this.#costs.slice(0, this.#sessions).sort()
    const { length } = sorted
    const count = BigInt(length)
    return {
      mean: (2n * cost + count) / (2n * count),
      median: (sorted[Math.floor((length - 1) / 2)]! + sorted[Math.floor(length / 2)]!) / 2n,
      p95: sorted[Math.ceil(0.95 * length) - 1]!
    }
  }
}

const nameOf = (keys: ReadonlyArray<GroupKey>): string => JSON.stringify(keys)

/** By the keys of groups. */
export class SessionGroups {
  readonly #groups = new Map<string, { readonly keys: ReadonlyArray<GroupKey>; readonly sums: SessionSums }>()

  /** Creates the sums if there are none. */
  of(keys: ReadonlyArray<GroupKey>): SessionSums {
    const name = nameOf(keys)
    const found = this.#groups.get(name)
    if (found !== undefined) return found.sums
    const sums = new SessionSums()
    this.#groups.set(name, { keys, sums })
    return sums
  }

  get(keys: ReadonlyArray<GroupKey>): SessionSums | undefined {
    return this.#groups.get(nameOf(keys))?.sums
  }

  get all() {
    return Array.from(this.#groups.values())
  }
}
