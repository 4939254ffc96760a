/** Pages of sessions in the order of their last calls. `SessionPlace` says which are in a list, and where. */
import { type EventId, SessionOrder, type SessionPlace, type SessionQuery, SessionRank } from "@tachograph/core"
import * as Effect from "effect/Effect"
import type { SqlClient, SqlError } from "effect/sql"
import * as Names from "./Names.ts"
import type * as RollupPosition from "../rollup/RollupPosition.ts"
import * as SessionCalls from "./SessionCalls.ts"
import * as SessionPage from "./SessionPage.ts"
import * as RankedSessions from "./RankedSessions.ts"
import * as SessionRows from "./SessionRows.ts"
import * as SessionScan from "./SessionScan.ts"

type Rank = SessionRank.SessionRank

/** Events that are not settled and that a list looks at. */
const maxUnsettled = 5_000

export const make = (sql: SqlClient.SqlClient) => {
  const stored = SessionRows.make(sql)
  const sessions = RankedSessions.make(sql)
  const calls = SessionCalls.make(sql)
  const names = Names.make(sql)

  /** Where a list begins; undefined if there are no events. */
  const begin = Effect.fnUntraced(function* (project_id: number, watermark: EventId) {
    const [newest] = yield* calls.read(project_id, {}, "desc", 1)
    if (newest === undefined) return undefined
    if (newest.id <= watermark) return { asOf: newest.id, last: undefined, recent: [] }
    const events = yield* calls.read(project_id, { above: watermark }, "desc", maxUnsettled)
    const { asOf, lastMs } = SessionOrder.begin(watermark, events, events.length < maxUnsettled)
    const settled = yield* calls.lastsUpTo(project_id, lastMs.keys(), asOf)
    const recent = Array.from(lastMs, ([session, ms]) =>
      SessionRank.of(Math.max(ms, settled.get(session)?.lastMs ?? ms), session)
    )
    return { asOf, last: undefined, recent: recent.sort(SessionRank.by("asc")) }
  })

  /**
   * The ranks of sessions of which the rows do not say them: by their events, or as the place has them. Undefined for those that have
   * none: all of their events are later.
   */
  const ranksOf = Effect.fnUntraced(function* (
    project_id: number,
    sessions: ReadonlySet<number>,
    { ofRecent, start }: SessionPage.SessionPage
  ) {
    const lasts = yield* calls.lastsUpTo(project_id, sessions, start.asOf)
    const ranks = new Map<number, Rank | undefined>()
    for (const session of sessions) {
      const last = lasts.get(session)
      ranks.set(session, last && SessionRank.of(last.lastMs, session))
    }
    for (const [session, rank] of ofRecent) ranks.set(session, rank)
    return ranks as ReadonlyMap<number, Rank | undefined>
  })

  /**
   * Fills a page with the sessions whose ranks are `known`, and with others, unless there are none. The ranks of these are in the rows and
   * in the `backlog`: the greater one is that of the session. Returns where the list goes on if the page has looked at enough.
   */
  const fill = Effect.fnUntraced(function* (
    project_id: number,
    { add, hasLookedEnough, isFull, look, order, range, start, step }: SessionPage.SessionPage,
    known: ReadonlyMap<number, Rank | undefined>,
    backlog: SessionRows.Backlog["lastMs"] | undefined
  ): Effect.fn.Return<SessionPlace | undefined, SqlError.SqlError> {
    const isOther = (rank: Rank) => !known.has(SessionRank.sessionOf(rank))
    const ofBacklog = Array.from(backlog ?? [], ([session, ms]) => SessionRank.of(ms, session)).filter(isOther)
    let waiting = [...known.values(), ...ofBacklog]
      .flatMap((rank) => rank ?? [])
      .filter((rank) => SessionOrder.isWithin(range, rank))
    for (let rest = range; ;) {
      const rows = step()
      look(rows)
      const { end, ranked }: RankedSessions.RankedStep =
        backlog === undefined
          ? { ranked: [], end: undefined }
          : yield* sessions.readRanked(project_id, rest, order, rows)
      const isReached = (rank: Rank) => end === undefined || SessionRank.by(order)(rank, end) <= 0
      const reached = new Set([...ranked.filter(isOther), ...waiting.filter(isReached)])
      waiting = waiting.filter((rank) => !isReached(rank))
      yield* add(
        Array.from(reached)
          .sort(SessionRank.by(order))
          .map((rank) => ({
            session: SessionRank.sessionOf(rank),
            place: { ...start, last: rank },
            foundAt: isOther(rank) ? rank : undefined
          }))
      )
      if (end === undefined || isFull()) return undefined
      if (hasLookedEnough()) return { ...start, last: end }
      rest = SessionOrder.following(rest, order, end)
    }
  })

  /** A page after a place. */
  const read = Effect.fnUntraced(function* (
    project_id: number,
    query: SessionQuery,
    start: SessionPlace,
    position: RollupPosition.RollupPosition,
    readBacklog: ReturnType<SessionRows.SessionRows["backlogs"]>
  ): Effect.fn.Return<SessionPage.Page, SqlError.SqlError> {
    const { asOf, scan } = start
    const wanted = yield* names.filterOf(project_id, query)
    const backlog = yield* readBacklog(project_id, position, asOf)
    const page = SessionPage.make(stored, project_id, query, start, wanted, position, backlog)
    const ofPerson = yield* sessions.readOfPerson(project_id, wanted.person)
    const moved = ofPerson ?? (backlog && (yield* sessions.readMoved(project_id, asOf)))
    if (moved === undefined || scan !== undefined) return page.end(yield* SessionScan.fill(calls, project_id, page))
    const known = yield* ranksOf(project_id, moved, page)
    return page.end(yield* fill(project_id, page, known, ofPerson === undefined ? backlog?.lastMs : undefined))
  })

  return { begin, read, backlogs: stored.backlogs }
}
