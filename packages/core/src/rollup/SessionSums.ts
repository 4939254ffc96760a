/** What the sessions of groups of calls add up to: how many there are, and what one of them costs. */
import * as SessionFigures from "./SessionFigures.ts"
import type { GroupKey } from "./UsageGroups.ts"

type Figures = SessionFigures.Figures

export class SessionSums {
  /** What each of the sessions costs that are closed, and all of them, in billionths of a dollar. */
  readonly #costs: Array<number> = []
  #cost = 0n
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
    this.#costs.push(figures.cost)
    this.#cost += BigInt(figures.cost)
  }

  /** Of all calls. */
  get figures(): Figures {
    this.#close()
    return this.#all
  }

  get sessions(): number {
    this.#close()
    return this.#costs.length
  }

  /** Sessions with a call that has no cost, or whose cost leaves something out. */
  get unpricedSessions(): number {
    this.#close()
    return this.#unpricedSessions
  }

  /** Of a session, in billionths of a dollar; null if no call has a cost. Calls without one count as nothing. */
  get costPerSession(): { readonly mean: bigint; readonly median: bigint; readonly p95: bigint } | null {
    const { events, unpriced } = this.figures
    if (unpriced === events) return null
    const sorted = Float64Array.from(this.#costs).sort()
    const { length } = sorted
    const count = BigInt(length)
    const at = (place: number) => BigInt(sorted[place]!)
    return {
      mean: (2n * this.#cost + count) / (2n * count),
      median: (at(Math.floor((length - 1) / 2)) + at(Math.floor(length / 2)) + 1n) / 2n,
      p95: at(Math.ceil(0.95 * length) - 1)
    }
  }
}

const nameOf = (keys: ReadonlyArray<GroupKey>): string => JSON.stringify(keys)

/** By the keys of groups, and of all groups together. */
export class SessionGroups {
  readonly #groups = new Map<string, { readonly keys: ReadonlyArray<GroupKey>; readonly sums: SessionSums }>()
  readonly total = new SessionSums()

  /** Adds calls of a session to a group. Those of one session come one after another. */
  add(keys: ReadonlyArray<GroupKey>, session: number, figures: Figures, lastMs: number): void {
    const name = nameOf(keys)
    let found = this.#groups.get(name)
    if (found === undefined) {
      found = { keys, sums: new SessionSums() }
      this.#groups.set(name, found)
    }
    found.sums.add(session, figures, lastMs)
    this.total.add(session, figures, lastMs)
  }

  get(keys: ReadonlyArray<GroupKey>): SessionSums | undefined {
    return this.#groups.get(nameOf(keys))?.sums
  }

  get size(): number {
    return this.#groups.size
  }

  get all() {
    return Array.from(this.#groups.values())
  }
}
