/** Pages of sessions in the order of their last events. `SessionPlace` says which are in a list, and where. */
import { type EventId, SessionOrder, SessionParts, type SessionPlace, type SessionQuery, Uuid } from "@tachograph/core"
import * as Effect from "effect/Effect"
import type { SqlClient, SqlError } from "effect/sql"
import * as Names from "./Names.ts"
import type * as Position from "./Position.ts"
import * as SessionRows from "./SessionRows.ts"

/** Sessions that one page looks at, about, and that one step of it reads. */
const maxLooked = 10_000
const maxStep = 500

/** Events that one step reads where the rows do not say the order, and those that are not settled and that a list looks at. */
const scanStep = 1_000
const maxUnsettled = 5_000

interface Found {
  readonly session: number
  readonly parts: ReadonlyArray<SessionParts.SessionPart>
  /** Behind the session. */
  readonly place: SessionPlace
}

export const make = (sql: SqlClient.SqlClient) => {
  const stored = SessionRows.make(sql)
  const names = Names.make(sql)

  /** Where a list begins; undefined if there are no events. */
  const begin = Effect.fnUntraced(function* (project_id: number, query: SessionQuery, watermark: EventId) {
    const [newest] = yield* stored.readIds(project_id, {}, "desc", 1)
    if (newest === undefined) return undefined
    if (newest.id <= watermark) return SessionOrder.begin(query, newest.id, [], true)
    const recent = yield* stored.readIds(project_id, { above: watermark }, "desc", maxUnsettled)
    return SessionOrder.begin(query, watermark, recent, recent.length < maxUnsettled)
  })

  /** A page after a place. */
  const read = Effect.fnUntraced(function* (
    project_id: number,
    { above, below, limit, order, ...filter }: SessionQuery,
    start: SessionPlace,
    position: Position.Position,
    readBacklog: ReturnType<SessionRows.SessionRows["backlogs"]>
  ): Effect.fn.Return<
    { readonly sessions: ReadonlyArray<readonly [number, Found["parts"]]>; readonly next: SessionPlace | undefined },
    SqlError.SqlError
  > {
    const { asOf, recent } = start
    const wanted = yield* names.filterOf(project_id, filter)
    const isFiltered = Object.values(wanted).some((value) => value !== undefined)
    const backlog = yield* readBacklog(project_id, position, asOf)
    const found: Array<Found> = []
    // One more than the page has shows whether there is another page.
    const isFull = () => found.length > limit
    let looked = 0

    const partsOf = (sessions: ReadonlyArray<number>) => stored.partsOf(project_id, sessions, position, backlog?.parts)
    const add = (session: number, parts: Found["parts"], place: SessionPlace) => {
      if (parts.length > 0 && SessionParts.isSessionMatch(wanted, parts)) found.push({ session, parts, place })
    }

    /** Those that had events that were not settled. */
    const addRecent = Effect.fnUntraced(function* (from: SessionPlace) {
      for (let given = from.given; given < recent.length && !isFull();) {
        const step = recent.slice(given, given + Math.min(maxStep, limit + 1))
        const parts = yield* partsOf(step)
        for (const session of step) {
          add(session, Array.from(parts.get(session)?.values() ?? []), { ...from, given: ++given })
        }
      }
    })

    /** All others. Returns where they go on if the page has looked at enough. */
    const addSettled = Effect.fnUntraced(function* (from: SessionPlace) {
      const excluded = new Set(recent)
      const inOrder = inOrderOf(order)
      const upTo = Uuid.next(asOf)
      let range = rangeOf({ above, below: below === undefined || below > upTo ? upTo : below }, order, from.last)
      const ofPerson = yield* stored.readOfPerson(project_id, wanted.person)
      const known = ofPerson && rankedOf(yield* stored.lastUpTo(project_id, ofPerson, asOf))
      const others =
        known !== undefined || backlog === undefined ? undefined : yield* stored.readMoved(project_id, asOf, backlog)
      let waiting: ReadonlyArray<SessionRows.Ranked> = (known ?? others?.ranked ?? [])
        .filter(({ last }) => SessionOrder.isWithin(range, last))
        .sort(inOrder)
      const readStep = Effect.suspend((): Effect.Effect<SessionRows.RankedStep, SqlError.SqlError> => {
        // Where the sessions are known, none is looked for.
        if (known !== undefined) return Effect.succeed({ ranked: [], end: undefined })
        if (others === undefined) {
          looked += scanStep
          return stored.readScanned(project_id, range, order, scanStep, asOf)
        }
        const left = Math.max(1, limit - found.length + 1)
        const step = isFiltered ? Math.min(maxStep, 2 * (limit + looked)) : Math.min(maxStep, left)
        looked += step
        return stored.readRanked(project_id, range, order, step)
      })
      while (true) {
        const { end, ranked } = yield* readStep
        const isReached = ({ last }: SessionRows.Ranked) => end === undefined || inOrder({ last }, { last: end }) <= 0
        const candidates = [
          ...ranked.filter(({ session }) => others?.moved.has(session) !== true),
          ...waiting.filter(isReached)
        ]
          .filter(({ session }) => !excluded.has(session))
          .sort(inOrder)
        waiting = waiting.filter((each) => !isReached(each))
        for (let at = 0; at < candidates.length && !isFull();) {
          const size = isFiltered ? maxStep : Math.min(maxStep, limit - found.length + 1)
          const step = candidates.slice(at, at + size)
          const parts = yield* partsOf(step.map(({ session }) => session))
          for (const { last, session } of step) {
            const own = Array.from(parts.get(session)?.values() ?? [])
            // Another row of the session says where it is.
            const isElsewhere = others?.moved.has(session) === false && own.some((part) => part.last > last)
            if (!isElsewhere) add(session, own, { ...from, last })
          }
          at += step.length
        }
        if (end === undefined || isFull()) return undefined
        if (looked >= maxLooked) return { ...from, last: end }
        range = rangeOf(range, order, end)
      }
    })

    let next: SessionPlace | undefined
    if (order === "desc") {
      yield* addRecent(start)
      if (!isFull()) next = yield* addSettled({ ...start, given: recent.length })
    } else {
      next = yield* addSettled(start)
      // There is no settled event behind them.
      if (next === undefined && !isFull()) yield* addRecent({ ...start, last: asOf })
    }
    const page = found.slice(0, limit)
    return {
      sessions: page.map(({ parts, session }) => [session, parts]),
      next: isFull() ? page.at(-1)!.place : next
    }
  })

  return { begin, read, backlogs: stored.backlogs }
}

const rankedOf = (lasts: ReadonlyMap<number, EventId>): ReadonlyArray<SessionRows.Ranked> =>
  Array.from(lasts, ([session, last]) => ({ session, last }))

/** What follows a place in a range. */
const rangeOf = (range: SessionRows.Range, order: "asc" | "desc", place: EventId | undefined): SessionRows.Range => {
  if (place === undefined) return range
  return order === "asc" ? { ...range, above: place } : { ...range, below: place }
}

const inOrderOf =
  (order: "asc" | "desc") =>
  (a: Pick<SessionRows.Ranked, "last">, b: Pick<SessionRows.Ranked, "last">): number => {
    if (a.last === b.last) return 0
    return a.last < b.last === (order === "asc") ? -1 : 1
  }
