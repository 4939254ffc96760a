/** Appending events and reading them back. */
import {
  type AppendEvent,
  Errors,
  type EventId,
  type EventQuery,
  KeyConflict,
  type ProjectId,
  SessionConflict,
  type TakenKey
} from "@tachograph/core"
import { Effect } from "effect"
import type { SqlClient } from "effect/sql"
import * as AgentVersionNumbers from "../names/AgentVersionNumbers.ts"
import * as IndexHint from "./IndexHint.ts"
import * as EventRows from "../append/EventRows.ts"
import * as IdempotencyKeys from "../append/IdempotencyKeys.ts"
import * as UuidColumn from "../sql/UuidColumn.ts"
import * as AppendInOneStatement from "../append/AppendInOneStatement.ts"
import * as BulkValues from "../sql/BulkValues.ts"
import * as NumberedNames from "../names/NumberedNames.ts"
import type * as Projects from "../names/Projects.ts"
import { type EventRow, toEventSummary } from "../sql/RowDecoding.ts"
import * as SessionCounters from "../append/SessionCounters.ts"
import * as SharedPieces from "../append/SharedPieces.ts"
import * as Usage from "../usage/Usage.ts"

interface StoredPackRow {
  readonly session_number: number | string
  readonly pack_number: number | string
  readonly pack: Uint8Array
}

export const make = (sql: SqlClient.SqlClient, projects: Projects.Projects) => {
  const toStored = UuidColumn.encoder(sql)
  const pieces = SharedPieces.make(sql)
  const usage = Usage.make(sql, projects)
  const keys = IdempotencyKeys.make(sql)
  const agentVersions = AgentVersionNumbers.make(sql)

  const rowsOf = EventRows.make(sql)
  const known = AppendInOneStatement.make(sql, agentVersions, rowsOf)

  const packColumns = BulkValues.make(sql, EventRows.packTypes)
  const eventColumns = BulkValues.make(sql, EventRows.eventTypes)
  const counters = SessionCounters.make(sql)

  /** Rows of one project, in a transaction. */
  const appendIn = Effect.fnUntraced(function* (project_id: number, events: ReadonlyArray<AppendEvent>) {
    const summaries = events.map(({ summary }) => summary)
    const project = { project_id }
    const people = new Map(
      summaries.flatMap(({ person, receivedAt }) =>
        person === null ? [] : [[person, { properties: "{}", created_at: receivedAt.epochMilliseconds }] as const]
      )
    )
    const expected = new Map<string, number>()
    const newSessions = new Map<string, NumberedNames.Columns>()
    for (const { pack, summary } of events) {
      if (pack.session === undefined) newSessions.set(summary.session, {})
      else expected.set(summary.session, pack.session.number)
    }
    const foundVersions = yield* agentVersions.look(project_id, summaries)
    const foundPeople = yield* NumberedNames.find(sql, NumberedNames.people, project, Array.from(people.keys()))
    const begun = yield* agentVersions.begin(project_id, summaries, foundVersions)
    const personNumbers = yield* NumberedNames.ensure(sql, NumberedNames.people, project, people, foundPeople)
    const created = yield* NumberedNames.ensure(sql, NumberedNames.sessions, project, newSessions)
    const sessionNumbers = new Map([...expected, ...created])
    const versions = yield* agentVersions.numbers(begun)

    const moved = yield* counters.add(project_id, sessionNumbers, events)
    if (moved.length > 0) return { moved, appended: [] }

    const rows = rowsOf(project_id, events, {
      session: ({ session }) => sessionNumbers.get(session)!,
      versions,
      person: ({ person }) => (person === null ? null : personNumbers.get(person)!)
    })
    const owners = events.map(({ pack, summary }) => ({
      session_number: sessionNumbers.get(summary.session)!,
      shared: pack.shared
    }))
    yield* own(project_id, owners, rows.tally)
    yield* BulkValues.asOneStatement(sql, [
      ...BulkValues.chunks(rows.packs).map(
        (some) => sql`INSERT INTO packs ${packColumns.names} ${packColumns.of(some)}`
      ),
      ...BulkValues.chunks(rows.events).map(
        (some) => sql`INSERT INTO events ${eventColumns.names} ${eventColumns.of(some)}`
      ),
      ...usage.additions(project_id, rows.tally)
    ])
    return { moved, appended: owners.map(({ session_number }) => session_number) }
  })

  /** Keeps the shared pieces, and counts those that are new. */
  const own = Effect.fnUntraced(function* (
    project_id: number,
    owners: Parameters<typeof pieces.own>[1],
    tally: Usage.Tally
  ) {
    if (owners.every(({ shared }) => shared.length === 0)) return
    for (const piece of yield* pieces.own(project_id, owners)) {
      tally.add(Usage.ofProject, Usage.ofProject, {
        entries: 1,
        new_bytes: piece.size,
        stored_bytes: piece.bytes().length
      })
    }
  })

  const appendEvents = Effect.fn("SqlStorage.appendEvents")(function* (events: ReadonlyArray<AppendEvent>) {
    const byProject = new Map<number, Array<AppendEvent>>()
    for (const event of events) {
      const project = yield* projects.findOrCreate(event.project)
      const own = byProject.get(project)
      if (own === undefined) byProject.set(project, [event])
      else own.push(event)
    }
    const inOrder = Array.from(byProject).sort(([a], [b]) => a - b)
    const [only] = inOrder
    if (inOrder.length === 1 && (yield* known.append(...only!))) return events.map(({ pack }) => pack.session!.number)
    const numbers = yield* sql.withTransaction(
      Effect.gen(function* () {
        const taken: Array<TakenKey> = []
        for (const [project_id, own] of inOrder) taken.push(...(yield* keys.take(project_id, own)))
        if (taken.length > 0) return yield* new KeyConflict({ taken })

        const numbers = new Map<AppendEvent, number>()
        const moved: Array<{ readonly project: ProjectId; readonly session: string }> = []
        for (const [project_id, own] of inOrder) {
          const done = yield* appendIn(project_id, own)
          for (const session of done.moved) moved.push({ project: own[0]!.project, session })
          for (const [index, number] of done.appended.entries()) numbers.set(own[index]!, number)
        }
        // Fails, so that all of it is rolled back.
        return moved.length > 0 ? yield* new SessionConflict({ sessions: moved }) : numbers
      })
    )
    return events.map((event) => numbers.get(event)!)
  })

  const select = sql.literal(`e.event_id, e.received_at, s.session_id, a.agent_name, v.agent_version_name, p.person_id,
    e.fingerprint_id, e.api, e.model, e.input_tokens, e.output_tokens, e.stop_reason, e.inputs_bytes, e.output_bytes,
    e.occurred_at, e.duration_ms`)
  const joins = sql.literal(`JOIN sessions s ON s.project_id = e.project_id AND s.session_number = e.session_number
    JOIN agents a ON a.project_id = e.project_id AND a.agent_number = e.agent_number
    JOIN agent_versions v ON v.project_id = e.project_id AND v.agent_number = e.agent_number
      AND v.agent_version_number = e.agent_version_number
    LEFT JOIN people p ON p.project_id = e.project_id AND p.person_number = e.person_number`)
  const from = sql`events e ${joins}`

  const getEvent = Effect.fn("SqlStorage.getEvent")(function* (project: ProjectId, id: EventId) {
    const number = yield* projects.find(project)
    if (number === undefined) return yield* new Errors.EventNotFound()
    const [row] = yield* sql<EventRow & StoredPackRow>`SELECT ${select}, e.session_number, e.pack_number, k.pack
      FROM ${from} JOIN packs k ON k.project_id = e.project_id AND k.session_number = e.session_number
        AND k.pack_number = e.pack_number
      WHERE e.project_id = ${number} AND e.event_id = ${toStored(id)}`
    if (row === undefined) return yield* new Errors.EventNotFound()
    const pack = { number: Number(row.pack_number), bytes: row.pack }
    return { summary: toEventSummary(row), session: Number(row.session_number), pack }
  })

  /** Of several filters the first is likely to leave the fewest events. */
  const indexFor = ({ agent, person, session }: EventQuery): IndexHint.EventIndex | undefined =>
    session !== undefined
      ? "events_by_session"
      : person !== undefined
        ? "events_by_person"
        : agent !== undefined
          ? "events_by_agent"
          : undefined

  const listEvents = Effect.fn("SqlStorage.listEvents")(function* (project: ProjectId, query: EventQuery) {
    const number = yield* projects.find(project)
    if (number === undefined) return []
    const { after, agent, agentVersion, limit, order, person, session } = query
    const ascending = order === "asc"
    const conditions = [sql`e.project_id = ${number}`]
    if (after !== undefined) {
      conditions.push(sql`e.event_id ${sql.literal(ascending ? ">" : "<")} ${toStored(after)}`)
    }
    if (session !== undefined) {
      conditions.push(sql`e.session_number = (
        SELECT session_number FROM sessions WHERE project_id = ${number} AND session_id = ${session})`)
    }
    if (agent !== undefined) {
      conditions.push(sql`e.agent_number = (
        SELECT agent_number FROM agents WHERE project_id = ${number} AND agent_name = ${agent})`)
    }
    if (person !== undefined) {
      conditions.push(sql`e.person_number = (
        SELECT person_number FROM people WHERE project_id = ${number} AND person_id = ${person})`)
    }
    if (agentVersion !== undefined) {
      conditions.push(sql`EXISTS (SELECT 1 FROM agent_versions f WHERE f.project_id = e.project_id
        AND f.agent_number = e.agent_number AND f.agent_version_number = e.agent_version_number
        AND f.agent_version_name = ${agentVersion})`)
    }
    const inOrder = sql.literal(`ORDER BY e.event_id ${ascending ? "ASC" : "DESC"}`)
    // The page is found before anything is joined to it.
    const rows = yield* sql<EventRow>`SELECT ${select} FROM (
        SELECT * FROM events e ${IndexHint.of(sql, indexFor(query))} WHERE ${sql.and(conditions)} ${inOrder} LIMIT ${limit}
      ) e ${joins} ${inOrder}`
    return rows.map(toEventSummary)
  })

  return { appendEvents, getEvent, listEvents }
}
