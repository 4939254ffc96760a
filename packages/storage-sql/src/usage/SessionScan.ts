/**
 * Lists sessions by the events themselves, in the order of recording: where too many events are not in the rows, or too many sessions
 * went on since the list was begun. Each session is on the list if its rank follows the place's, so that a list that was begun in the
 * order of last calls has the others of its sessions, each once.
 */
import { EventTime, SessionOrder, type SessionPlace, SessionRank, Uuid } from "@tachograph/core"
import * as Effect from "effect/Effect"
import type { SqlError } from "effect/sql"
import type * as SessionCalls from "./SessionCalls.ts"
import type * as SessionPage from "./SessionPage.ts"

/** Events that one step reads. */
const step = 1_000

/** Fills a page. Returns where the list goes on if the page has looked at enough. */
export const fill = Effect.fnUntraced(function* (
  calls: SessionCalls.SessionCalls,
  project_id: number,
  { add, hasLookedEnough, isFull, look, ofRecent, order, range, recent, start }: SessionPage.SessionPage
): Effect.fn.Return<SessionPlace | undefined, SqlError.SqlError> {
  const { asOf } = start
  const behind = Uuid.next(asOf)
  let { at, given } = start.scan ?? { at: order === "asc" ? EventTime.lowestId : behind, given: 0 }
  const addRecent = () =>
    add(
      recent.slice(given).map((rank) => ({
        session: SessionRank.sessionOf(rank),
        place: { ...start, scan: { at, given: ++given } }
      }))
    )
  // Their events are later than all others.
  if (order === "desc") yield* addRecent()
  while (!isFull()) {
    const events = yield* calls.read(
      project_id,
      order === "asc" ? { above: at, below: behind } : { below: at },
      order,
      step
    )
    look(step)
    const sessions = events.map(({ session }) => session).filter((session) => !ofRecent.has(session))
    const lasts = yield* calls.lastsUpTo(project_id, new Set(sessions), asOf)
    yield* add(
      events.flatMap(({ id, session }) => {
        const last = lasts.get(session)
        const isListed = last?.id === id && SessionOrder.isWithin(range, SessionRank.of(last.lastMs, session))
        return isListed ? { session, place: { ...start, scan: { at: id, given } } } : []
      })
    )
    if (isFull()) return undefined
    if (events.length < step) break
    at = events.at(-1)!.id
    if (hasLookedEnough()) return { ...start, scan: { at, given } }
  }
  at = asOf
  if (order === "asc") yield* addRecent()
  return undefined
})
