/** Reads events. */
import { Errors, type EventId, type EventQuery, type ProjectId } from "@tachograph/core"
import { Effect } from "effect"
import type { SqlClient } from "effect/sql"
import * as IndexHint from "../dialect/IndexHint.ts"
import * as UuidColumn from "../dialect/UuidColumn.ts"
import type * as Projects from "../names/Projects.ts"
import * as EventColumns from "../sql/EventColumns.ts"
import type { Integer } from "../sql/RowDecoding.ts"

interface PackRow {
  readonly session_number: Integer
  readonly pack_number: Integer
  readonly pack: Uint8Array | null
}

/** No value of a column is longer, in any database. */
const maxColumnBytes = 2 ** 31 - 1

/** The index of the filter that is likely to match the fewest events. */
const indexFor = ({ agent, person, session }: EventQuery): IndexHint.EventIndex | undefined => {
  if (session !== undefined) return "events_by_session"
  if (person !== undefined) return "events_by_person"
  return agent === undefined ? undefined : "events_by_agent"
}

export const make = (sql: SqlClient.SqlClient, projects: Projects.Projects) => {
  const toStored = UuidColumn.encoder(sql)
  const { fields, joins, toStored: toStoredSummary } = EventColumns.reader(sql)

  const getEvent = Effect.fn("SqlStorage.getEvent")(function* (
    project: ProjectId,
    id: EventId,
    maxPackBytes = maxColumnBytes
  ) {
    const number = yield* projects.find(project)
    if (number === undefined) return yield* new Errors.EventNotFound()
    const [row] = yield* sql<EventColumns.EventRow & PackRow>`SELECT ${fields}, e.session_number, e.pack_number,
        CASE WHEN length(k.pack) <= ${maxPackBytes} THEN k.pack END AS pack
      FROM events e ${joins} LEFT JOIN packs k ON k.project_id = e.project_id AND k.session_number = e.session_number
        AND k.pack_number = e.pack_number
      WHERE e.project_id = ${number} AND e.event_id = ${toStored(id)}`
    if (row === undefined) return yield* new Errors.EventNotFound()
    const pack = { number: Number(row.pack_number), bytes: row.pack ?? undefined }
    return { ...toStoredSummary(row), session: Number(row.session_number), pack }
  })

  const listEvents = Effect.fn("SqlStorage.listEvents")(function* (project: ProjectId, query: EventQuery) {
    const number = yield* projects.find(project)
    if (number === undefined) return []
    const { after, agent, agentVersion, limit, order, person, session } = query
    const isAscending = order === "asc"
    const conditions = [sql`e.project_id = ${number}`]
    if (after !== undefined) {
      conditions.push(sql`e.event_id ${sql.literal(isAscending ? ">" : "<")} ${toStored(after)}`)
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
    const orderBy = sql.literal(`ORDER BY e.event_id ${isAscending ? "ASC" : "DESC"}`)
    // The subquery selects the page, so that only its rows are joined.
    const rows = yield* sql<EventColumns.EventRow>`SELECT ${fields} FROM (
        SELECT * FROM events e ${IndexHint.of(sql, indexFor(query))} WHERE ${sql.and(conditions)} ${orderBy} LIMIT ${limit}
      ) e ${joins} ${orderBy}`
    return rows.map(toStoredSummary)
  })

  return { getEvent, listEvents }
}
