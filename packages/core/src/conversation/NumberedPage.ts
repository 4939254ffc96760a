/** Pages of what a session has, in the order of numbers. */
import type { EventId } from "../domain/Event.ts"
import type { Damage } from "../payload/format/Damage.ts"

/** A page of a list that is ordered by numbers. */
export interface NumberedQuery {
  /** Starts after this number, in the query's order. */
  readonly after?: number | undefined
  readonly order: "asc" | "desc"
  /** At least 1. */
  readonly limit: number
}

export interface NumberedPage<Row> {
  readonly rows: ReadonlyArray<Row>
  /** After which the next page starts; undefined on the last page. */
  readonly next: number | undefined
}

/** A page, and what was found damaged in it. */
export interface Listed<Page> {
  readonly page: Page
  readonly damaged: ReadonlyArray<{ readonly id: EventId; readonly damage: Damage }>
}

/** The numbers of a page: of those from `first` up to, not including, `end`, in the query's order. */
export const numbersOf = (first: number, end: number, { limit, order }: NumberedQuery): ReadonlyArray<number> => {
  const length = Math.max(0, Math.min(limit, end - first))
  return Array.from({ length }, (_, index) => (order === "asc" ? first + index : end - 1 - index))
}
