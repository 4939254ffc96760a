/** The first rows of a list that is sorted by a figure, of however many are added. */
import type { Order, Sort } from "../domain/Sort.ts"
import type { Figures } from "./SessionFigures.ts"

/** Where a row is in a list: by its figure, and by its number where figures are the same. */
export interface Rank {
  readonly value: number
  readonly number: number
}

/** Rows without a figure come last in either order. */
export const valueOf = (figure: number | null, order: Order): number =>
  figure ?? (order === "asc" ? Number.MAX_VALUE : -1)

/** The figure of sessions or groups by which they are sorted. */
export const figureOf = (
  sort: Sort,
  { cost, errors, events, tokens, unpriced }: Figures,
  { firstMs, lastMs }: { readonly firstMs: number; readonly lastMs: number }
): number | null => {
  switch (sort) {
    case "last":
      return lastMs
    case "cost":
      return unpriced === events ? null : cost
    case "calls":
      return events
    case "tokens":
      return tokens
    case "errors":
      return errors
    case "duration":
      return lastMs - firstMs
  }
}

/** The highest first, or the lowest. */
export const by =
  (order: Order) =>
  (a: Rank, b: Rank): number => {
    const difference = a.value === b.value ? a.number - b.number : a.value - b.value
    return order === "asc" ? difference : -difference
  }

export class Ranking {
  readonly #compare: (a: Rank, b: Rank) => number
  readonly #after: Rank | undefined
  readonly #limit: number
  #rows: Array<Rank> = []
  /** Rows behind it are not among the first ones. */
  #last: Rank | undefined

  /** Keeps one row more than `limit`, of those after a place. */
  constructor(order: Order, limit: number, after?: Rank) {
    this.#compare = by(order)
    this.#limit = limit + 1
    this.#after = after
  }

  add(row: Rank): void {
    if (this.#after !== undefined && this.#compare(row, this.#after) <= 0) return
    if (this.#last !== undefined && this.#compare(row, this.#last) > 0) return
    this.#rows.push(row)
    if (this.#rows.length >= 2 * this.#limit) this.#drop()
  }

  #drop(): void {
    this.#rows = this.#rows.sort(this.#compare).slice(0, this.#limit)
    if (this.#rows.length === this.#limit) this.#last = this.#rows.at(-1)
  }

  /** In their order. `next` is the last of them, if there are more. */
  get page(): { readonly rows: ReadonlyArray<Rank>; readonly next: Rank | undefined } {
    this.#drop()
    const rows = this.#rows.slice(0, this.#limit - 1)
    return { rows, next: this.#rows.length === this.#limit ? rows.at(-1) : undefined }
  }
}
