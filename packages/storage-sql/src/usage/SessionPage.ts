/** A page of a list of sessions while it is filled. */
import { SessionOrder, SessionParts, type SessionPlace, type SessionQuery, SessionRank } from "@tachograph/core"
import * as Effect from "effect/Effect"
import type * as RollupPosition from "../rollup/RollupPosition.ts"
import type * as SessionRows from "./SessionRows.ts"

type Parts = ReadonlyArray<SessionParts.SessionPart>

/** Sessions that one step of a page reads. */
const maxStep = 500

/** Sessions that one page looks at, about. */
const maxLooked = 10_000

/** A session that a page looks at. */
export interface Candidate {
  readonly session: number
  /** Behind it. */
  readonly place: SessionPlace
  /** Where it was found, if it may be listed somewhere else. */
  readonly foundAt?: SessionRank.SessionRank | undefined
}

export interface Page {
  readonly sessions: ReadonlyArray<readonly [number, Parts]>
  readonly next: SessionPlace | undefined
}

export type SessionPage = ReturnType<typeof make>

export const make = (
  stored: SessionRows.SessionRows,
  project_id: number,
  query: SessionQuery,
  start: SessionPlace,
  wanted: SessionParts.PartFilter,
  position: RollupPosition.RollupPosition,
  backlog: SessionRows.Backlog | undefined
) => {
  const { limit, order } = query
  const isFiltered = Object.values(wanted).some((value) => value !== undefined)
  const found: Array<{ readonly session: number; readonly parts: Parts; readonly place: SessionPlace }> = []
  let looked = 0

  // One more than the page has shows whether there is another page.
  const isFull = () => found.length > limit

  const left = () => Math.max(1, limit - found.length + 1)

  /** Puts those on the page that are looked for, until it is full. */
  const add = Effect.fnUntraced(function* (candidates: ReadonlyArray<Candidate>) {
    for (let at = 0; at < candidates.length && !isFull();) {
      const step = candidates.slice(at, at + (isFiltered ? maxStep : Math.min(maxStep, left())))
      const sessions = step.map(({ session }) => session)
      const { derivedMs, parts } = yield* stored.partsOf(project_id, sessions, position, backlog?.parts)
      for (const { foundAt, place, session } of step) {
        const lastMs = Math.max(derivedMs.get(session) ?? 0, backlog?.lastMs.get(session) ?? 0)
        if (foundAt !== undefined && lastMs > SessionRank.msOf(foundAt)) continue
        const own = Array.from(parts.get(session)?.values() ?? [])
        if (own.length > 0 && SessionParts.isSessionMatch(wanted, own, SessionParts.errorsOf))
          found.push({ session, parts: own, place })
      }
      at += step.length
    }
  })

  const range = SessionOrder.rangeOf(query, start)

  return {
    order,
    start,
    /** Ranks that are behind the place, of the sessions that are looked for. */
    range,
    /** Those of the place's own sessions, in order. */
    recent: start.recent.filter((rank) => SessionOrder.isWithin(range, rank)).sort(SessionRank.by(order)),
    /** All of the place's own sessions, by their numbers. */
    ofRecent: new Map(start.recent.map((rank) => [SessionRank.sessionOf(rank), rank])) as ReadonlyMap<
      number,
      SessionRank.SessionRank
    >,
    add,
    isFull,
    /** How many sessions to read next. */
    step: () => Math.min(maxStep, isFiltered ? 2 * (limit + looked) : left()),
    look: (sessions: number) => {
      looked += sessions
    },
    hasLookedEnough: () => looked >= maxLooked,
    /** `next` is where it goes on unless it is full. */
    end: (next: SessionPlace | undefined): Page => {
      const page = found.slice(0, limit)
      return {
        sessions: page.map(({ parts, session }) => [session, parts]),
        next: isFull() ? page.at(-1)!.place : next
      }
    }
  }
}
