/** Sessions in the order of their last events, and the parts of which their summaries are made. */
import { type EventId, SessionParts, type SessionQuery, Tally } from "@tachograph/core"
import { Effect } from "effect"
import type { SqlClient } from "effect/sql"
import * as Bucket from "../dialect/Bucket.ts"
import * as BulkValues from "../dialect/BulkValues.ts"
import * as EachRow from "../dialect/EachRow.ts"
import * as EventIndex from "../dialect/EventIndex.ts"
import * as UuidColumn from "../dialect/UuidColumn.ts"
import type { Integer } from "../sql/RowDecoding.ts"
import * as CountedEvents from "./CountedEvents.ts"
import type * as Position from "./Position.ts"
import * as Rollups from "./Rollups.ts"
import * as Series from "./Series.ts"

/** A person with more events is looked for in the list of all sessions. */
const maxOfPerson = 2_000

/** A session in its place in the order of a list. */
export interface Ranked {
  readonly session: number
  readonly last: EventId
}

/** Some sessions in order, and where to go on; undefined at the end. */
export interface RankedStep {
  readonly ranked: ReadonlyArray<Ranked>
  readonly end: EventId | undefined
}

type Parts = Map<string, SessionParts.SessionPart>

/** By the numbers of the sessions. */
export type PartsOfSessions = Map<number, Parts>

const addPart = (sessions: PartsOfSessions, session: number, part: SessionParts.SessionPart): void => {
  const parts = sessions.get(session) ?? new Map<string, SessionParts.SessionPart>()
  sessions.set(session, parts)
  const { agent, agentVersion, model, person, responseModel } = part
  const key = JSON.stringify([agent, agentVersion, person, model, responseModel])
  const found = parts.get(key)
  if (found === undefined) return void parts.set(key, part)
  found.tally.merge(part.tally)
  const first = Rollups.earlier(found.first, part.first)
  parts.set(key, { ...found, first, last: Rollups.later(found.last, part.last) })
}

export const addEvent = (sessions: PartsOfSessions, event: CountedEvents.CountedEvent): void => {
  const tally = new Tally()
  tally.add(event)
  addPart(sessions, event.session, { ...event, first: event.id, last: event.id, tally })
}
/** Between these ids, neither of which is in it. */
export type Range = Pick<SessionQuery, "above" | "below">

export const make = (sql: SqlClient.SqlClient) => {
  const events = CountedEvents.make(sql)
  const rollups = Rollups.make(sql)
  const toStored = UuidColumn.encoder(sql)
  // With the series as a column, Postgres cannot take the partial index, which does not tell sessions apart.
  const askedRows = BulkValues.make(sql, BulkValues.named({ series: "smallint", session: "integer" }))
  // Literal, so that SQLite knows that the partial index has all of them.
  const isOfSession = sql.literal(`series = ${Series.session}`)

  /** The parts of sessions that are in the rollups. */
  const readParts = Effect.fnUntraced(function* (project_id: number, sessions: ReadonlyArray<number>) {
    const parts: PartsOfSessions = new Map()
    // Each once: rows come as often as their session does.
    for (const chunk of BulkValues.chunks(Array.from(new Set(sessions)))) {
      const columns = Rollups.selected(sql, "r.")
      const condition = sql`${rollups.ofProject(project_id, "r.")} AND r.series = asked.series
        AND r.session_number = asked.session`
      const asked = askedRows.of(chunk.map((session) => ({ series: Series.session, session })))
      const rows = yield* sql<Rollups.Row>`WITH asked ${askedRows.names} AS (${asked})
        SELECT ${columns} FROM asked ${EachRow.join(sql, "rollups", "r", columns, condition)}`
      for (const row of rows) {
        const { first, last, session, ...part } = yield* Rollups.readable(() => Rollups.of(row))
        addPart(parts, session, { ...part, first: first!, last: last! })
      }
    }
    return parts
  })

  /** The parts of sessions, of all of their events. `recent` has those above the position. */
  const partsOf = Effect.fnUntraced(function* (
    project_id: number,
    sessions: ReadonlyArray<number>,
    recent: PartsOfSessions
  ) {
    const parts = yield* readParts(project_id, sessions)
    for (const session of sessions) {
      for (const part of recent.get(session)?.values() ?? []) {
        const tally = new Tally()
        tally.merge(part.tally)
        addPart(parts, session, { ...part, tally })
      }
    }
    return parts
  })

  /** The last event of a session up to an id. */
  const lastUpTo = Effect.fnUntraced(function* (project_id: number, session: number, upTo: EventId) {
    const agents = yield* sql<{ agent_number: Integer }>`SELECT agent_number FROM storage_usage
      WHERE project_id = ${project_id} AND session_number = ${session}${Bucket.and(sql, Bucket.ofNumber(session))}`
    let last: EventId | undefined
    for (const { agent_number } of agents) {
      const [row] = yield* sql<{ event_id: UuidColumn.StoredId }>`SELECT event_id
        FROM events ${EventIndex.hint(sql, "events_by_session")}
        WHERE project_id = ${project_id} AND session_number = ${session} AND agent_number = ${agent_number}
          AND event_id <= ${toStored(upTo)}${Bucket.and(sql, Bucket.ofNumber(session))}
        ORDER BY event_id ${EventIndex.direction(sql, "desc")} LIMIT 1`
      if (row !== undefined) last = Rollups.later(last, UuidColumn.decode(row.event_id) as EventId)
    }
    return last
  })

  /**
   * The sessions in which events were recorded after the list was begun, or that are not in the rollups yet. The statement says in
   * which order it reads them, because Postgres, which knows nothing of a new table, takes the index that has this order.
   */
  const readMoved = Effect.fnUntraced(function* (project_id: number, asOf: EventId, recent: PartsOfSessions) {
    const moved = new Set(recent.keys())
    const rows = yield* sql<{ session_number: Integer }>`SELECT session_number FROM rollups
      WHERE ${rollups.ofProject(project_id)} AND ${isOfSession} AND last_event > ${toStored(asOf)} ORDER BY last_event`
    for (const { session_number } of rows) moved.add(Number(session_number))
    const ranked: Array<Ranked> = []
    for (const session of moved) {
      const last = yield* lastUpTo(project_id, session, asOf)
      if (last !== undefined) ranked.push({ session, last })
    }
    return { moved, ranked }
  })

  /** The sessions of a person who has few events; undefined if they have many, or anybody is looked for. */
  const readOfPerson = Effect.fnUntraced(function* (project_id: number, person: number | undefined) {
    if (person === undefined) return undefined
    const rows = yield* sql<{ session_number: Integer }>`SELECT session_number
      FROM events ${EventIndex.hint(sql, "events_by_person")}
      WHERE project_id = ${project_id} AND person_number = ${person} LIMIT ${maxOfPerson}`
    return rows.length === maxOfPerson ? undefined : new Set(rows.map((row) => Number(row.session_number)))
  })

  /** Sessions by the last events of their rows. */
  const rank = Effect.fnUntraced(function* (project_id: number, sessions: Iterable<number>) {
    const parts = yield* readParts(project_id, Array.from(sessions))
    return Array.from(parts, ([session, own]): Ranked => {
      const { last } = SessionParts.summaryOf(Array.from(own.values()))
      return { session, last }
    })
  })

  /**
   * Some of the rows of sessions that are in a range of last events, in order, and where to go on. A session that has several rows
   * occurs as often.
   */
  const readRanked = Effect.fnUntraced(function* (
    project_id: number,
    range: Range,
    order: "asc" | "desc",
    limit: number
  ) {
    const isAbove = range.above === undefined ? sql.literal("") : sql` AND last_event > ${toStored(range.above)}`
    const isBelow = range.below === undefined ? sql.literal("") : sql` AND last_event < ${toStored(range.below)}`
    const rows = yield* sql<{ session_number: Integer; last_event: UuidColumn.StoredId }>`
      SELECT session_number, last_event FROM rollups
      WHERE ${rollups.ofProject(project_id)} AND ${isOfSession}${isAbove}${isBelow}
      ORDER BY last_event ${sql.literal(order)} LIMIT ${limit}`
    const ranked = rows.map((row) => ({
      session: Number(row.session_number),
      last: UuidColumn.decode(row.last_event) as EventId
    }))
    return { ranked, end: ranked.length < limit ? undefined : ranked.at(-1)!.last }
  })

  const readRecent = Effect.fnUntraced(function* (project_id: number, { last }: Position.Position) {
    const recent: PartsOfSessions = new Map()
    yield* events.forEach(project_id, { above: last }, (event) => addEvent(recent, event))
    return recent
  })

  return { partsOf, rank, readMoved, readOfPerson, readRanked, readRecent }
}
