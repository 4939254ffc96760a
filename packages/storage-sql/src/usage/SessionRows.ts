/** Sessions in the order of their last calls, and the parts of which their summaries are made. */
import { type EventId, SessionParts, SessionRank, type SessionOrder, Tally } from "@tachograph/core"
import * as Effect from "effect/Effect"
import type { SqlClient, SqlError } from "effect/sql"
import * as BulkValues from "../dialect/BulkValues.ts"
import * as Dialects from "../dialect/Dialects.ts"
import * as EventIndex from "../dialect/EventIndex.ts"
import * as UuidColumn from "../dialect/UuidColumn.ts"
import type { Integer } from "../sql/RowDecoding.ts"
import type * as CountedEvent from "../rollup/CountedEvent.ts"
import * as CountedEvents from "../rollup/CountedEvents.ts"
import type * as Position from "../rollup/Position.ts"
import * as Rollups from "../rollup/Rollups.ts"
import * as Series from "../rollup/Series.ts"

/** A person with more events is looked for in the list of all sessions. */
const maxOfPerson = 2_000

/** Events above the position, and sessions with later events than a list was begun with, that a page takes from where they are. */
const maxBacklog = 20_000
const maxMoved = 2_000

/** Some sessions in order, and where to go on; undefined at the end. */
export interface RankedStep {
  readonly ranked: ReadonlyArray<SessionRank.SessionRank>
  readonly end: SessionRank.SessionRank | undefined
}

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
  const { agent, agentVersion, model, person, responseModel } = part
  const key = JSON.stringify([agent, agentVersion, person, model, responseModel])
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
  const toStored = UuidColumn.encoder(sql)
  // With the series as a column, Postgres cannot take the partial index, which does not tell sessions apart.
  const askedRows = BulkValues.make(sql, BulkValues.named({ series: "smallint", session: "integer" }))
  // Literal, so that SQLite knows that the partial index has all of them.
  const isOfSession = sql.literal(`series = ${Series.session}`)

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
    { last }: Position.Position,
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
   * The sessions that have later events than one in the rollups: their rows do not say their last calls up to it. Undefined if there are
   * too many. The statement says in which order it reads rows, because Postgres, which knows nothing of a new table, takes the index that
   * has this order.
   */
  const readMoved = Effect.fnUntraced(function* (project_id: number, asOf: EventId) {
    const rows = yield* sql<{ session_number: Integer }>`SELECT session_number FROM rollups
      WHERE ${rollups.ofProject(project_id)} AND ${isOfSession} AND last_event > ${toStored(asOf)}
      ORDER BY last_event LIMIT ${maxMoved}`
    return rows.length === maxMoved ? undefined : new Set(rows.map((row) => Number(row.session_number)))
  })

  /** The sessions of a person who has few events; undefined if they have many, or anybody is looked for. */
  const readOfPerson = Effect.fnUntraced(function* (project_id: number, person: number | undefined) {
    if (person === undefined) return undefined
    const rows = yield* sql<{ session_number: Integer }>`SELECT session_number
      FROM events ${EventIndex.hint(sql, "events_by_person")}
      WHERE project_id = ${project_id} AND person_number = ${person} LIMIT ${maxOfPerson}`
    return rows.length === maxOfPerson ? undefined : new Set(rows.map((row) => Number(row.session_number)))
  })

  /**
   * Some of the rows of sessions that are in a range, in order, and where to go on. A session that has several rows occurs as often, and
   * the last of its ranks is its own.
   */
  const readRanked = Effect.fnUntraced(function* (
    project_id: number,
    { above, below }: SessionOrder.Range,
    order: "asc" | "desc",
    limit: number
  ): Effect.fn.Return<RankedStep, SqlError.SqlError> {
    // A row without a last call is damaged.
    const isAbove = above === undefined ? sql` AND last_call IS NOT NULL` : sql` AND last_call > ${toStored(above)}`
    const isBelow = below === undefined ? sql.literal("") : sql` AND last_call < ${toStored(below)}`
    const rows = yield* sql<{ session_number: Integer; last_call: UuidColumn.StoredId }>`
      SELECT session_number, last_call FROM rollups
      WHERE ${rollups.ofProject(project_id)} AND ${isOfSession}${isAbove}${isBelow}
      ORDER BY last_call ${sql.literal(order)} LIMIT ${limit}`
    const read = rows.map((row) => UuidColumn.decode(row.last_call) as SessionRank.SessionRank)
    // A rank that is damaged may name another session.
    const ranked = read.map((rank, n) => SessionRank.of(SessionRank.msOf(rank), Number(rows[n]!.session_number)))
    return { ranked, end: rows.length < limit ? undefined : read.at(-1) }
  })

  /**
   * Reads the events above a position, and the last calls of their sessions up to an id. Undefined if there are too many. A page that is
   * read again, because some of them were added to the rows meanwhile, reads them only once.
   */
  const backlogs = () => {
    let kept:
      | { readonly from: Position.Position; readonly events: ReadonlyArray<CountedEvent.CountedEvent> }
      | undefined
    return Effect.fnUntraced(function* (
      project_id: number,
      position: Position.Position,
      asOf: EventId
    ): Effect.fn.Return<Backlog | undefined, SqlError.SqlError> {
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

  return { backlogs, partsOf, readMoved, readOfPerson, readRanked }
}
