/** The figures of all sessions: of digests, of rows that are in none or have changed since, and of events that are in no row yet. */
import { Damage, SessionDigest, SessionFigures, SessionParts } from "@tachograph/core"
import * as Effect from "effect/Effect"
import type { SqlClient, SqlError } from "effect/sql"
import * as Damages from "../rollup/Damages.ts"
import type { CountedEvent } from "../rollup/CountedEvent.ts"
import * as CountedEvents from "../rollup/CountedEvents.ts"
import * as DigestRows from "../rollup/DigestRows.ts"
import * as RollupPosition from "../rollup/RollupPosition.ts"

/** Digests that one statement reads. */
const digestsPerStep = 64

/** Sessions without a digest that one statement reads. */
const sessionsPerStep = 8 * SessionDigest.sessionsOf

type Part = SessionFigures.SessionFigures

/** Takes a session, once, with all its parts. */
export type UseSession = (session: number, parts: ReadonlyArray<Part>) => void

const ofEvent = (event: CountedEvent): Part => {
  const { agent, agentVersion, api, model, person, responseModel, session } = event
  const { firstMs, lastMs, peaks } = SessionParts.endsOf(event)
  return {
    ...SessionFigures.ofEvent(event),
    ...{ session, agent, agentVersion, api, model, person, responseModel, firstMs, lastMs, peaks }
  }
}

/** Parts by their sessions and names, for those that replace or follow what digests have. */
class Parts {
  readonly #sessions = new Map<number, Map<string, Part>>()

  #of(session: number): Map<string, Part> {
    const found = this.#sessions.get(session) ?? new Map<string, Part>()
    this.#sessions.set(session, found)
    return found
  }

  put(part: Part): void {
    this.#of(part.session).set(SessionFigures.keyOf(part), part)
  }

  add(part: Part): void {
    const parts = this.#of(part.session)
    const key = SessionFigures.keyOf(part)
    const found = parts.get(key)
    parts.set(key, found === undefined ? part : SessionFigures.joined(found, part))
  }

  /** Those of a session, which are not there any more then. */
  take(session: number): ReadonlyArray<Part> {
    const found = this.#sessions.get(session)
    if (found === undefined) return []
    this.#sessions.delete(session)
    return Array.from(found.values())
  }

  get sessions(): ReadonlyArray<number> {
    return Array.from(this.#sessions.keys())
  }
}

/** Parts of a session with others in the place of those that have the same names. */
const replaced = (session: number, parts: ReadonlyArray<Part>, others: ReadonlyArray<Part>): ReadonlyArray<Part> => {
  const all = new Parts()
  for (const part of [...parts, ...others]) all.put(part)
  return all.take(session)
}

const eventsIn = (parts: ReadonlyArray<Part>): number => parts.reduce((sum, { events }) => sum + events, 0)

/** Calls `use` with each session of some parts, with what has changed in the place of it, and what has come beside it. */
const merger = (changed: Parts, added: Parts, damaged: ReadonlySet<number>, use: UseSession) => {
  /** Events that are in rows. */
  let derived = 0
  const useSession = (session: number, base: ReadonlyArray<Part>) => {
    const [instead, beside] = [changed.take(session), added.take(session)]
    if (damaged.has(session)) return
    const ofRows = instead.length === 0 ? base : replaced(session, base, instead)
    derived += eventsIn(ofRows)
    if (beside.length === 0) return use(session, ofRows)
    const all = new Parts()
    for (const part of [...ofRows, ...beside]) all.add(part)
    use(session, all.take(session))
  }
  return {
    derived: () => derived,
    /** Parts in the order of their sessions. */
    useAll: (parts: ReadonlyArray<Part>) => {
      for (let from = 0; from < parts.length;) {
        const { session } = parts[from]!
        let to = from + 1
        while (to < parts.length && parts[to]!.session === session) to++
        useSession(session, parts.slice(from, to))
        from = to
      }
    },
    useRest: () => {
      for (const session of new Set([...changed.sessions, ...added.sessions])) useSession(session, [])
    }
  }
}

export const make = (sql: SqlClient.SqlClient) => {
  const digests = DigestRows.make(sql)
  const positions = RollupPosition.make(sql)
  const events = CountedEvents.make(sql).intact

  /** Uses the sessions that have no digest. Adds those of which a row is damaged to others. */
  const useRows = Effect.fnUntraced(function* (
    project_id: number,
    from: number,
    to: number,
    damaged: Set<number>,
    useAll: (parts: ReadonlyArray<Part>) => void
  ): Effect.fn.Return<void, SqlError.SqlError> {
    for (let at = from; at < to; at += sessionsPerStep) {
      const read = yield* digests.ofSessions(project_id, at, Math.min(to, at + sessionsPerStep))
      for (const session of read.damaged) damaged.add(session)
      useAll(read.parts)
      yield* Effect.yieldNow
    }
  })

  /** Uses the digests after a position, and what has none between them and after them. */
  const useDigests = Effect.fnUntraced(function* (
    project_id: number,
    end: number,
    damaged: Set<number>,
    useAll: (parts: ReadonlyArray<Part>) => void
  ): Effect.fn.Return<void, SqlError.SqlError> {
    let at = 0
    for (let isWhole = false; !isWhole;) {
      const read = yield* digests.after(project_id, SessionDigest.numberOf(at) - 1, digestsPerStep)
      for (const { number, parts } of read) {
        const first = number * SessionDigest.sessionsOf
        yield* useRows(project_id, at, first, damaged, useAll)
        at = first + SessionDigest.sessionsOf
        if (parts === undefined) yield* useRows(project_id, first, at, damaged, useAll)
        else useAll(parts)
      }
      isWhole = read.length < digestsPerStep
      yield* Effect.yieldNow
    }
    yield* useRows(project_id, at, end, damaged, useAll)
  })

  /** Calls `use` with every session, in one state of the rows, which has the position. */
  const forEach = Effect.fnUntraced(function* (
    project_id: number,
    position: RollupPosition.RollupPosition,
    use: UseSession
  ): Effect.fn.Return<void, SqlError.SqlError> {
    const [changed, added] = [new Parts(), new Parts()]
    const damaged = new Set<number>()
    const { derived, useAll, useRest } = merger(changed, added, damaged, use)
    yield* events.forEach(project_id, { above: position.last }, (event) => added.add(ofEvent(event)))
    const end = (yield* digests.lastSession(project_id)) + 1
    const found = yield* digests.position(project_id)
    if (found === undefined) yield* useRows(project_id, 0, end, damaged, useAll)
    else {
      const read = yield* digests.changed(project_id, found.last)
      for (const session of read.damaged) damaged.add(session)
      for (const part of read.parts) changed.put(part)
      yield* useDigests(project_id, end, damaged, useAll)
    }
    useRest()
    let readAgain = 0
    for (const session of damaged) {
      const own = new Parts()
      yield* events.forEachOf(project_id, session, {}, (event) => {
        own.add(ofEvent(event))
        if (event.id <= position.last) readAgain++
      })
      use(session, own.take(session))
    }
    // A row whose key is damaged, or that is gone, does not say of which session it was.
    const expected = yield* digests.derivedEvents(project_id)
    if (derived() + readAgain === expected) return
    // Rows that have changed meanwhile are of several states: this read begins anew then.
    const { version } = yield* positions.read(project_id)
    if (version !== position.version) return
    yield* Damages.readable(() => {
      throw new Damage("The rows of sessions are not of all events")
    })
  })

  return { forEach }
}
