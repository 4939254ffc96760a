/** Groups of calls sorted by what they add up to: which of them a page has. */
import type { Order, Sort } from "../domain/Sort.ts"
import { by, figureOf, valueOf } from "./Ranking.ts"
import * as SessionFigures from "./SessionFigures.ts"
import type { SessionGroups } from "./SessionSums.ts"
import type { GroupKey, UsageGroups } from "./UsageGroups.ts"
import type { UsageQuery } from "./UsageQuery.ts"

type Keys = ReadonlyArray<GroupKey>

/** A group, by its figure. */
export interface SortedGroup {
  readonly keys: Keys
  readonly figure: number | null
}

/** By what the sessions of the groups say. Durations are not among it. */
export const ofSessions = (groups: SessionGroups, sort: Exclude<Sort, "duration">): ReadonlyArray<SortedGroup> =>
  groups.all.map(({ keys, sums }) => ({
    keys,
    figure: figureOf(sort, sums.figures, { firstMs: sums.lastMs, lastMs: sums.lastMs })
  }))

/** By what the calls of the groups say: their median durations, for example. When the last one was is not among it. */
export const ofTallies = (groups: UsageGroups, sort: Sort): ReadonlyArray<SortedGroup> =>
  groups.page.groups.map(({ keys, tally }) => ({
    keys,
    figure:
      sort === "duration"
        ? tally.durationPercentiles.durationMsP50
        : figureOf(sort, SessionFigures.ofTally(tally), { firstMs: 0, lastMs: 0 })
  }))

/** The keys of the groups of a page, and where the next one begins: behind so many groups. */
export const pageOf = (
  groups: ReadonlyArray<SortedGroup>,
  { after, limit, order = "desc" }: Pick<UsageQuery, "after" | "limit"> & { readonly order?: Order | undefined }
): { readonly keys: ReadonlyArray<Keys>; readonly next: Keys | undefined } => {
  const [behind] = after ?? []
  const from = typeof behind === "number" ? Math.max(0, Math.floor(behind)) : 0
  const sorted = groups
    .map(({ figure, keys }, number) => ({ keys, value: valueOf(figure, order), number }))
    .sort(by(order))
  const page = sorted.slice(from, from + limit)
  return { keys: page.map(({ keys }) => keys), next: from + limit < sorted.length ? [from + limit] : undefined }
}
