/** Sessions in the order of their last events, and the parts of which their summaries are made. */
import { type EventId, type SessionParts, type SessionQuery, Tally } from "@tachograph/core"
import * as Effect from "effect/Effect"
import type { SqlClient, SqlError } from "effect/sql"
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

/** Events above the position, and sessions with later events than a list was begun with, that a page takes from where they are. */
const maxBacklog = 20_000
const maxMoved = 2_000

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

/** What is not in the rollups yet. */
export interface Backlog {
  readonly parts: PartsOfSessions
  /** The last events of the sessions up to an id. */
  readonly lasts: ReadonlyMap<number, EventId>
}

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

const addEvent = (sessions: PartsOfSessions, event: CountedEvents.CountedEvent): void => {
  const tally = new Tally()
  tally.add(event)
  addPart(sessions, event.session, { ...event, first: event.id, last: event.id, tally })
}

export type SessionRows = ReturnType<typeof make>

/** Between these ids, neither of which is in it. */
export type Range = Pick<SessionQuery, "above" | "below">

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
        SELECT ${columns} FROM asked ${EachRow.join(sql, "rollups", "r", columns, condition)}`
      for (const row of rows) {
        const read = Rollups.tryOf(project_id, row)
        if (read === undefined) {
          damaged.add(Number(row.session_number))
          continue
        }
        const { first, last, session, ...part } = read
        addPart(parts, session, { ...part, first: first!, last: last! })
      }
    }
    for (const session of damaged) parts.delete(session)
    return { parts, damaged }
  })

  /** Adds the events of sessions above an id. */
  const addEvents = Effect.fnUntraced(function* (
    project_id: number,
    sessions: Iterable<number>,
    above: EventId | undefined,
    parts: PartsOfSessions
  ) {
    for (const session of sessions) {
      yield* events.forEachOf(project_id, session, { above }, (event) => addEvent(parts, event))
    }
  })

  /** The parts of sessions, of all of their events. `backlog` has those above the position, or is too large to be read. */
  const partsOf = Effect.fnUntraced(function* (
    project_id: number,
    sessions: ReadonlyArray<number>,
    { last }: Position.Position,
    backlog: PartsOfSessions | undefined
  ) {
    const { damaged, parts } = yield* readParts(project_id, sessions)
    yield* addEvents(project_id, damaged, undefined, parts)
    const others = new Set(sessions.filter((session) => !damaged.has(session)))
    if (backlog === undefined) yield* addEvents(project_id, others, last, parts)
    else {
      for (const session of others) {
        for (const part of backlog.get(session)?.values() ?? []) {
          const tally = new Tally()
          tally.merge(part.tally)
          addPart(parts, session, { ...part, tally })
        }
      }
    }
    return parts
  })

  /** The last events of sessions up to an id, of those that have any. */
  const lastUpTo = Effect.fnUntraced(function* (project_id: number, sessions: Iterable<number>, upTo: EventId) {
    const lasts = new Map<number, EventId>()
    const groups = Bucket.split(sql, Array.from(sessions), Bucket.ofNumber)
    for (const { buckets, rows: ofShard } of groups) {
      for (const chunk of BulkValues.chunks(ofShard)) {
        const rows = yield* sql<{ session_number: Integer; last: UuidColumn.StoredId | null }>`
          SELECT u.session_number, (
            SELECT event_id FROM events ${EventIndex.hint(sql, "events_by_session")}
            WHERE events.project_id = u.project_id AND events.session_number = u.session_number
              AND events.agent_number = u.agent_number AND event_id <= ${toStored(upTo)}
              ${Bucket.andSame(sql, "events", "u")}${ofShardOnly(buckets, "events.")}
            ORDER BY event_id ${EventIndex.direction(sql, "desc")} LIMIT 1
          ) AS last FROM storage_usage u WHERE u.project_id = ${project_id}
            AND ${BulkValues.isAmong(sql, "u.session_number", "integer", chunk)}${ofShardOnly(buckets, "u.")}`
        for (const { last, session_number } of rows) {
          const session = Number(session_number)
          if (last !== null) lasts.set(session, Rollups.later(lasts.get(session), UuidColumn.decode(last) as EventId))
        }
      }
    }
    return lasts
  })

  const ofShardOnly = (buckets: ReadonlyArray<number>, table: string) => Bucket.and(sql, buckets, table)

  /**
   * The sessions of which no row says their last event up to an id: those with later events, and those that are not in the rollups
   * yet. Undefined if there are too many. The statement says in which order it reads rows, because Postgres, which knows nothing of a
   * new table, takes the index that has this order.
   */
  const readMoved = Effect.fnUntraced(function* (project_id: number, asOf: EventId, { lasts, parts }: Backlog) {
    const rows = yield* sql<{ session_number: Integer }>`SELECT session_number FROM rollups
      WHERE ${rollups.ofProject(project_id)} AND ${isOfSession} AND last_event > ${toStored(asOf)}
      ORDER BY last_event LIMIT ${maxMoved}`
    if (rows.length === maxMoved) return undefined
    const moved = new Set(parts.keys())
    for (const { session_number } of rows) moved.add(Number(session_number))
    const unknown = Array.from(moved).filter((session) => !lasts.has(session))
    const ranked = Array.from(
      [...lasts, ...(yield* lastUpTo(project_id, unknown, asOf))],
      ([session, last]): Ranked => ({ session, last })
    )
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
    // A row without a last event is damaged.
    const isAbove =
      range.above === undefined ? sql` AND last_event IS NOT NULL` : sql` AND last_event > ${toStored(range.above)}`
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

  /** Ids of events in a range, in order, with their sessions. */
  const readIds = Effect.fnUntraced(function* (project_id: number, range: Range, order: "asc" | "desc", limit: number) {
    const isAbove = range.above === undefined ? sql.literal("") : sql` AND event_id > ${toStored(range.above)}`
    const isBelow = range.below === undefined ? sql.literal("") : sql` AND event_id < ${toStored(range.below)}`
    const rows = yield* sql<{ session_number: Integer; event_id: UuidColumn.StoredId }>`
      SELECT session_number, event_id FROM events WHERE project_id = ${project_id}${isAbove}${isBelow}
      ORDER BY event_id ${sql.literal(order)} LIMIT ${limit}`
    return rows.map(({ event_id, session_number }) => ({
      session: Number(session_number),
      id: UuidColumn.decode(event_id) as EventId
    }))
  })

  /** The same as `readRanked` by the events themselves, of the last ones up to an id, which cost more. Each session occurs once. */
  const readScanned = Effect.fnUntraced(function* (
    project_id: number,
    range: Range,
    order: "asc" | "desc",
    limit: number,
    asOf: EventId
  ): Effect.fn.Return<RankedStep, SqlError.SqlError> {
    const ids = yield* readIds(project_id, range, order, limit)
    const lasts = yield* lastUpTo(project_id, new Set(ids.map(({ session }) => session)), asOf)
    const ranked = ids.flatMap(({ id, session }) => (lasts.get(session) === id ? [{ session, last: id }] : []))
    return { ranked, end: ids.length < limit ? undefined : ids.at(-1)!.id }
  })

  /**
   * Reads the events above a position, and the last ones of their sessions up to an id. Undefined if there are too many. A page that is
   * read again, because some of them were added to the rows meanwhile, reads them only once.
   */
  const backlogs = () => {
    let kept:
      | { readonly from: Position.Position; readonly events: ReadonlyArray<CountedEvents.CountedEvent> }
      | undefined
    return Effect.fnUntraced(function* (
      project_id: number,
      position: Position.Position,
      asOf: EventId
    ): Effect.fn.Return<Backlog | undefined, SqlError.SqlError> {
      if (kept === undefined || kept.from.edits !== position.edits || kept.from.last > position.last) {
        const read: Array<CountedEvents.CountedEvent> = []
        const { last: above } = position
        const isWhole = yield* events.forEach(project_id, { above }, (event) => read.push(event), maxBacklog)
        if (!isWhole) return undefined
        kept = { from: position, events: read }
      }
      const parts: PartsOfSessions = new Map()
      const lasts = new Map<number, EventId>()
      for (const event of kept.events) {
        if (event.id <= position.last) continue
        addEvent(parts, event)
        if (event.id <= asOf) lasts.set(event.session, event.id)
      }
      return { parts, lasts }
    })
  }

  return { backlogs, lastUpTo, partsOf, readIds, readMoved, readOfPerson, readRanked, readScanned }
}
