/** The parts of which the summaries of sessions are made. */
import { type EventId, SessionParts, Tally } from "@tachograph/core"
import * as Effect from "effect/Effect"
import type { SqlClient } from "effect/sql"
import * as BulkValues from "../dialect/BulkValues.ts"
import * as Dialects from "../dialect/Dialects.ts"
import type * as CountedEvent from "../rollup/CountedEvent.ts"
import * as CountedEvents from "../rollup/CountedEvents.ts"
import type * as RollupPosition from "../rollup/RollupPosition.ts"
import * as Rollups from "../rollup/Rollups.ts"
import * as Series from "../rollup/Series.ts"

/** Events above the position that a page takes from where they are. */
const maxBacklog = 20_000

type Parts = Map<string, SessionParts.SessionPart>

/** By the numbers of the sessions. */
export type PartsOfSessions = Map<number, Parts>

/** What is not in the rollups yet. */
export interface Backlog {
  readonly parts: PartsOfSessions
  /** When the last of these calls took place, up to an id (epoch ms). */
  readonly lastMs: ReadonlyMap<number, number>
}

const addPart = (sessions: PartsOfSessions, session: number, part: SessionParts.SessionPart): void => {
  const parts = sessions.get(session) ?? new Map<string, SessionParts.SessionPart>()
  sessions.set(session, parts)
  const { agent, agentVersion, api, model, person, responseModel } = part
  const key = JSON.stringify([agent, agentVersion, person, api, model, responseModel])
  const found = parts.get(key)
  if (found === undefined) return void parts.set(key, part)
  found.tally.merge(part.tally)
  parts.set(key, { ...found, ...SessionParts.joined(found, part) })
}

const addEvent = (sessions: PartsOfSessions, event: CountedEvent.CountedEvent): void => {
  const tally = new Tally()
  tally.add(event)
  addPart(sessions, event.session, { ...event, ...SessionParts.endsOf(event), tally })
}

export type SessionRows = ReturnType<typeof make>

export const make = (sql: SqlClient.SqlClient) => {
  const events = CountedEvents.make(sql).intact
  const rollups = Rollups.make(sql)
  // With the series as a column, Postgres cannot take the partial index, which does not tell sessions apart.
  const askedRows = BulkValues.make(sql, BulkValues.named({ series: "smallint", session: "integer" }))
  /** The parts of sessions that are in the rollups, and the sessions of which a row is damaged. */
  const readParts = Effect.fnUntraced(function* (project_id: number, sessions: ReadonlyArray<number>) {
    const parts: PartsOfSessions = new Map()
    const damaged = new Set<number>()
    // Each once: rows come as often as their session does.
    for (const chunk of BulkValues.chunks(Array.from(new Set(sessions)))) {
      const columns = Rollups.selected(sql, "r.")
      const condition = sql`${rollups.ofProject(project_id, "r.")} AND r.series = asked.series
        AND r.session_number = asked.session`
      const asked = askedRows.of(chunk.map((session) => ({ series: Series.session, session })))
      const rows = yield* sql<Rollups.Row>`WITH asked ${askedRows.names} AS (${asked})
        SELECT ${columns} FROM asked ${Dialects.of(sql).joinEach("rollups", "r", columns, condition)}`
      for (const row of rows) {
        const read = Rollups.tryOf(project_id, row)
        if (read === undefined) {
          damaged.add(Number(row.session_number))
          continue
        }
        addPart(parts, read.session, { ...read, ...Rollups.endsOf(read)! })
      }
    }
    for (const session of damaged) parts.delete(session)
    return { parts, damaged }
  })

  /** Adds the events of sessions that are in a range of ids. */
  const addEvents = Effect.fnUntraced(function* (
    project_id: number,
    sessions: Iterable<number>,
    range: CountedEvents.IdRange,
    parts: PartsOfSessions
  ) {
    for (const session of sessions) {
      yield* events.forEachOf(project_id, session, range, (event) => addEvent(parts, event))
    }
  })

  /**
   * The parts of sessions, of all of their events, and when the last calls took place that are in the rollups. `backlog` has the events
   * above the position, or is too large to be read.
   */
  const partsOf = Effect.fnUntraced(function* (
    project_id: number,
    sessions: ReadonlyArray<number>,
    { last }: RollupPosition.RollupPosition,
    backlog: PartsOfSessions | undefined
  ) {
    const { damaged, parts } = yield* readParts(project_id, sessions)
    yield* addEvents(project_id, damaged, { upTo: last }, parts)
    const derivedMs = new Map(Array.from(parts, ([session, own]) => [session, SessionParts.lastMsOf(own.values())]))
    if (backlog === undefined) yield* addEvents(project_id, new Set(sessions), { above: last }, parts)
    else {
      for (const session of new Set(sessions)) {
        for (const part of backlog.get(session)?.values() ?? []) {
          const tally = new Tally()
          tally.merge(part.tally)
          addPart(parts, session, { ...part, tally })
        }
      }
    }
    return { parts, derivedMs }
  })

  /**
   * Reads the events above a position, and the last calls of their sessions up to an id. Undefined if there are too many. A page that is
   * read again, because some of them were added to the rows meanwhile, reads them only once.
   */
  const backlogs = () => {
    let kept:
      | { readonly from: RollupPosition.RollupPosition; readonly events: ReadonlyArray<CountedEvent.CountedEvent> }
      | undefined
    return Effect.fnUntraced(function* (project_id: number, position: RollupPosition.RollupPosition, asOf: EventId) {
      if (kept === undefined || kept.from.edits !== position.edits || kept.from.last > position.last) {
        const read: Array<CountedEvent.CountedEvent> = []
        const { last: above } = position
        const isWhole = yield* events.forEach(project_id, { above }, (event) => read.push(event), maxBacklog)
        if (!isWhole) return undefined
        kept = { from: position, events: read }
      }
      const parts: PartsOfSessions = new Map()
      const lastMs = new Map<number, number>()
      for (const event of kept.events) {
        if (event.id <= position.last) continue
        addEvent(parts, event)
        if (event.id > asOf) continue
        const { lastMs: ms } = SessionParts.endsOf(event)
        lastMs.set(event.session, Math.max(lastMs.get(event.session) ?? ms, ms))
      }
      return { parts, lastMs }
    })
  }

  return { backlogs, partsOf }
}
