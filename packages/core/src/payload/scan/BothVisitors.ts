import { skip, type Visitor } from "./JsonWalk.ts"

/**
 * Lets two visitors visit a text in one walk. Each is told what it would be told alone; only if one continues after some elements
 * of an array, the other is not told of these either.
 */
export class BothVisitors implements Visitor {
  readonly #visitors: readonly [Visitor, Visitor]
  /** How many values have begun and have not ended, and at which of them each visitor began to skip; 0 if it does not. */
  #open = 0
  readonly #skippedFrom: [number, number] = [0, 0]

  constructor(first: Visitor, second: Visitor) {
    this.#visitors = [first, second]
  }

  begin(start: number, keyStart: number, keyEnd: number): number {
    this.#open++
    return Math.max(this.#begin(0, start, keyStart, keyEnd), this.#begin(1, start, keyStart, keyEnd))
  }

  #begin(which: 0 | 1, start: number, keyStart: number, keyEnd: number): number {
    if (this.#skippedFrom[which] !== 0) return skip
    const next = this.#visitors[which].begin(start, keyStart, keyEnd)
    if (next === skip) this.#skippedFrom[which] = this.#open
    return next
  }

  end(end: number): void {
    this.#end(0, end)
    this.#end(1, end)
    this.#open--
  }

  #end(which: 0 | 1, end: number): void {
    const from = this.#skippedFrom[which]
    if (from !== 0 && from !== this.#open) return
    this.#visitors[which].end(end)
    this.#skippedFrom[which] = 0
  }
}
