/** The order of a list of sessions, and where it begins. */
import type { EventId } from "../domain/Event.ts"
import { maxRecentSessions } from "../domain/SessionSummary.ts"
import type { SessionPlace, SessionQuery } from "./SessionQuery.ts"

/** An event that may not be settled. */
export interface RecentEvent {
  readonly session: number
  readonly id: EventId
}

export const isWithin = ({ above, below }: Pick<SessionQuery, "above" | "below">, id: EventId): boolean =>
  (above === undefined || id > above) && (below === undefined || id < below)

/**
 * The beginning of a list. `events` are those above `settled`, the newest first; `isWhole` says whether these are all of them.
 * Where there are too many, the oldest of them count as settled.
 */
export const begin = (
  { above, below, order }: Pick<SessionQuery, "above" | "below" | "order">,
  settled: EventId,
  events: Iterable<RecentEvent>,
  isWhole: boolean
): SessionPlace => {
  let asOf = settled
  let oldest = settled
  const lasts = new Map<number, EventId>()
  for (const { id, session } of events) {
    oldest = id
    if (lasts.has(session)) continue
    if (lasts.size === maxRecentSessions) {
      asOf = id
      break
    }
    lasts.set(session, id)
  }
  if (asOf === settled && !isWhole) asOf = oldest
  const isInRange = ([, last]: readonly [number, EventId]) => isWithin({ above, below }, last)
  const outside = Array.from(lasts).filter((each) => !isInRange(each))
  const inside = Array.from(lasts).filter(isInRange)
  const inOrder = order === "desc" ? inside : inside.toReversed()
  const recent = [...outside, ...inOrder].map(([session]) => session)
  return { asOf, last: undefined, recent, given: outside.length }
}
