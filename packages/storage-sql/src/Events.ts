/** Appending events and reading them back. */
import { type AppendEvent, Errors, type EventId, type EventQuery, type ProjectId, Uuid } from "@tachograph/core"
import { Effect } from "effect"
import type { SqlClient } from "effect/sql"
import * as NumberedNames from "./NumberedNames.ts"
import type * as Projects from "./Projects.ts"
import { apiNumber, type EventRow, toEventSummary } from "./Rows.ts"

export const make = (sql: SqlClient.SqlClient, projects: Projects.Projects) => {
  /** Rows of one project, in a transaction. */
  const appendIn = Effect.fnUntraced(function* (project_id: number, events: ReadonlyArray<AppendEvent>) {
    const summaries = events.map(({ summary }) => summary)
    const project = { project_id }

    const agents = yield* NumberedNames.ensure(
      sql,
      NumberedNames.agents,
      project,
      new Map(
        summaries.map((_) => [_.agent, { description: `""`, created_at: _.receivedAt.epochMilliseconds }] as const)
      )
    )
    const people = yield* NumberedNames.ensure(
      sql,
      NumberedNames.people,
      project,
      new Map(
        summaries.flatMap(({ person, receivedAt }) =>
          person === null ? [] : [[person, { properties: "{}", created_at: receivedAt.epochMilliseconds }] as const]
        )
      )
    )
    const sessions = yield* NumberedNames.ensure(
      sql,
      NumberedNames.sessions,
      project,
      new Map(summaries.map(({ session }) => [session, {}] as const))
    )

    const versions = new Map<number, ReadonlyMap<string, number>>()
    for (const [agent, agent_number] of Array.from(agents).sort(([, a], [, b]) => a - b)) {
      const named = summaries.filter((summary) => summary.agent === agent)
      const wanted = new Map(
        named.map((_) => [_.agentVersion, { created_at: _.receivedAt.epochMilliseconds }] as const)
      )
      const key = { project_id, agent_number }
      versions.set(agent_number, yield* NumberedNames.ensure(sql, NumberedNames.agentVersions, key, wanted))
    }

    const nextPack = new Map<number, number>()
    for (const [session, session_number] of Array.from(sessions).sort(([, a], [, b]) => a - b)) {
      const count = summaries.filter((summary) => summary.session === session).length
      const [row] = yield* sql<{ packs: number }>`
        UPDATE sessions SET packs = packs + ${count}
        WHERE project_id = ${project_id} AND session_number = ${session_number} RETURNING packs`
      nextPack.set(session_number, Number(row!.packs) - count + 1)
    }

    const packRows: Array<Record<string, unknown>> = []
    const eventRows: Array<Record<string, unknown>> = []
    for (const { pack, summary } of events) {
      const session_number = sessions.get(summary.session)!
      const agent_number = agents.get(summary.agent)!
      const pack_number = nextPack.get(session_number)!
      nextPack.set(session_number, pack_number + 1)
      packRows.push({ project_id, session_number, pack_number, pack })
      eventRows.push({
        project_id,
        event_id: Uuid.toBytes(summary.id),
        received_at: summary.receivedAt.epochMilliseconds,
        session_number,
        agent_number,
        agent_version_number: versions.get(agent_number)!.get(summary.agentVersion)!,
        person_number: summary.person === null ? null : people.get(summary.person)!,
        fingerprint_id: Uuid.toBytes(summary.fingerprintId),
        api: apiNumber(summary.api),
        model: summary.model,
        input_tokens: summary.inputTokens,
        output_tokens: summary.outputTokens,
        stop_reason: summary.stopReason,
        inputs_bytes: summary.inputsBytes,
        output_bytes: summary.outputBytes,
        occurred_at: summary.occurredAt?.epochMilliseconds ?? null,
        duration_ms: summary.durationMs,
        pack_number
      })
    }
    yield* sql`INSERT INTO packs ${sql.insert(packRows as [Record<string, unknown>])}`
    yield* sql`INSERT INTO events ${sql.insert(eventRows as [Record<string, unknown>])}`
  })

  const appendEvents = Effect.fn("SqlStorage.appendEvents")(function* (events: ReadonlyArray<AppendEvent>) {
    const byProject = new Map<number, Array<AppendEvent>>()
    for (const event of events) {
      const project = yield* projects.findOrCreate(event.project)
      byProject.set(project, [...(byProject.get(project) ?? []), event])
    }
    const inOrder = Array.from(byProject).sort(([a], [b]) => a - b)
    yield* sql.withTransaction(Effect.forEach(inOrder, ([project, own]) => appendIn(project, own), { discard: true }))
  })

  const select = sql.literal(`e.event_id, e.received_at, s.session_id, a.agent_name, v.agent_version_name, p.person_id,
    e.fingerprint_id, e.api, e.model, e.input_tokens, e.output_tokens, e.stop_reason, e.inputs_bytes, e.output_bytes,
    e.occurred_at, e.duration_ms`)
  const from = sql.literal(`events e
    JOIN sessions s ON s.project_id = e.project_id AND s.session_number = e.session_number
    JOIN agents a ON a.project_id = e.project_id AND a.agent_number = e.agent_number
    JOIN agent_versions v ON v.project_id = e.project_id AND v.agent_number = e.agent_number
      AND v.agent_version_number = e.agent_version_number
    LEFT JOIN people p ON p.project_id = e.project_id AND p.person_number = e.person_number`)

  const getEvent = Effect.fn("SqlStorage.getEvent")(function* (project: ProjectId, id: EventId) {
    const number = yield* projects.find(project)
    if (number === undefined) return yield* new Errors.EventNotFound()
    const [row] = yield* sql<EventRow & { pack: Uint8Array }>`SELECT ${select}, k.pack FROM ${from}
      JOIN packs k ON k.project_id = e.project_id AND k.session_number = e.session_number
        AND k.pack_number = e.pack_number
      WHERE e.project_id = ${number} AND e.event_id = ${Uuid.toBytes(id)}`
    if (row === undefined) return yield* new Errors.EventNotFound()
    return { summary: toEventSummary(row), pack: row.pack }
  })

  const listEvents = Effect.fn("SqlStorage.listEvents")(function* (project: ProjectId, query: EventQuery) {
    const number = yield* projects.find(project)
    if (number === undefined) return []
    const { after, agent, agentVersion, limit, order, person, session } = query
    const ascending = order === "asc"
    const conditions = [sql`e.project_id = ${number}`]
    if (after !== undefined) {
      conditions.push(sql`e.event_id ${sql.literal(ascending ? ">" : "<")} ${Uuid.toBytes(after)}`)
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
    if (agentVersion !== undefined) conditions.push(sql`v.agent_version_name = ${agentVersion}`)
    const rows = yield* sql<EventRow>`SELECT ${select} FROM ${from} WHERE ${sql.and(conditions)}
      ORDER BY e.event_id ${sql.literal(ascending ? "ASC" : "DESC")} LIMIT ${limit}`
    return rows.map(toEventSummary)
  })

  return { appendEvents, getEvent, listEvents }
}
