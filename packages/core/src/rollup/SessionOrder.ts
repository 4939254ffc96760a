/** Which sessions a list has, and where it begins. */
import type { EventId } from "../domain/Event.ts"
import * as SessionRank from "../domain/SessionRank.ts"
import { maxRecentSessions } from "../domain/SessionSummary.ts"
import * as Uuid from "../domain/Uuid.ts"
import type { SessionPlace, SessionQuery } from "./SessionQuery.ts"

type Rank = SessionRank.SessionRank

/** Between these ranks, neither of which is in it. */
export interface Range {
  readonly above: Rank | undefined
  readonly below: Rank | undefined
}

export const isWithin = ({ above, below }: Range, rank: Rank): boolean =>
  (above === undefined || rank > above) && (below === undefined || rank < below)

/** What follows a rank in a range. */
export const following = (range: Range, order: "asc" | "desc", rank: Rank | undefined): Range => {
  if (rank === undefined) return range
  return order === "asc" ? { ...range, above: rank } : { ...range, below: rank }
}

/** The sessions that a page looks for, and that are behind its place. */
export const rangeOf = (
  { fromMs, order, toMs }: Pick<SessionQuery, "fromMs" | "toMs" | "order">,
  { last }: SessionPlace
): Range =>
  following(
    {
      above: fromMs === undefined ? undefined : Uuid.previous(SessionRank.of(fromMs, 0)),
      below: toMs === undefined ? undefined : SessionRank.of(toMs, 0)
    },
    order,
    last
  )

/** An event that may not be settled, with the time of its call. */
export interface RecentEvent {
  readonly session: number
  readonly id: EventId
  readonly atMs: number
}

/**
 * Up to which event a list is, and the sessions that have later ones, with the last calls of these. `events` are those above `settled`,
 * the newest first; `isWhole` says whether these are all of them. Where there are too many, the oldest of them count as settled.
 */
export const begin = (settled: EventId, events: Iterable<RecentEvent>, isWhole: boolean) => {
  let asOf = settled
  let oldest = settled
  const lastMs = new Map<number, number>()
  for (const { atMs, id, session } of events) {
    oldest = id
    const found = lastMs.get(session)
    if (found === undefined && lastMs.size === maxRecentSessions) {
      asOf = id
      break
    }
    lastMs.set(session, Math.max(found ?? atMs, atMs))
  }
  if (asOf === settled && !isWhole) asOf = oldest
  return { asOf, lastMs: lastMs as ReadonlyMap<number, number> }
}
