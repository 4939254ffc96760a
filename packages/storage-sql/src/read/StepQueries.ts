/** Reads the rows of steps, with the names that their numbers stand for. */
import {
  type AgentName,
  type AgentVersionName,
  type PersonId,
  type ProjectId,
  type SessionId,
  type SpanId,
  type StepFilter,
  type StepPlace,
  type StoredStep,
  type TraceId,
  Uuid
} from "@tachograph/core"
import * as Effect from "effect/Effect"
import type { SqlClient, SqlError, Statement } from "effect/sql"
import * as Bucket from "../dialect/Bucket.ts"
import * as Dialects from "../dialect/Dialects.ts"
import * as StoredBytes from "../dialect/StoredBytes.ts"
import * as UuidColumn from "../dialect/UuidColumn.ts"
import type * as Projects from "../names/Projects.ts"
import { type Integer, orUndefined, time } from "../sql/RowDecoding.ts"

/** A name is null that does not exist: a step of it is damaged. */
interface StepRow {
  readonly session_number: Integer
  readonly session_id: SessionId
  readonly agent_name: AgentName
  readonly agent_version_name: AgentVersionName
  readonly person_id: PersonId | null
  readonly occurred_at: Integer
  readonly received_at: Integer
  readonly pack_number: Integer
  readonly text_start: Integer
  readonly text_bytes: Integer
  readonly checksum: Integer
  readonly trace_id: UuidColumn.StoredId
  readonly span_id: Uint8Array
}

/** Damage can make it any value, which is not what the checksum says then. */
const timeOf = (value: Integer) => orUndefined(() => time(value)) ?? time(0)

const toStep = (row: StepRow): StoredStep => ({
  session: row.session_id,
  sessionNumber: Number(row.session_number),
  agent: row.agent_name,
  agentVersion: row.agent_version_name,
  person: row.person_id,
  occurredAt: timeOf(row.occurred_at),
  receivedAt: timeOf(row.received_at),
  pack: Number(row.pack_number),
  start: Number(row.text_start),
  bytes: Number(row.text_bytes),
  checksum: Number(row.checksum),
  traceId: (orUndefined(() => UuidColumn.decode(row.trace_id)) ?? "").replaceAll("-", "") as TraceId,
  spanId: Uuid.bytesToHex(row.span_id) as SpanId
})

export const make = (sql: SqlClient.SqlClient, projects: Projects.Projects) => {
  const columns = sql`t.session_number, s.session_id, a.agent_name, v.agent_version_name, p.person_id, t.occurred_at, t.received_at,
    t.pack_number, t.text_start, t.text_bytes, t.checksum, ${StoredBytes.select(sql, "t.trace_id")},
    ${StoredBytes.select(sql, "t.span_id")}`
  const indexed = (index: string) => sql.literal(Dialects.of(sql).useIndex(index))
  // Left joins, so that a damaged number does not hide the step.
  const joins = (
    session?: number
  ) => sql`LEFT JOIN sessions s ON s.project_id = t.project_id AND s.session_number = t.session_number
      ${session === undefined ? Bucket.andSame(sql, "s", "t") : Bucket.and(sql, Bucket.ofNumber(session), "s.")}
    LEFT JOIN agents a ON a.project_id = t.project_id AND a.agent_number = t.agent_number
    LEFT JOIN agent_versions v ON v.project_id = t.project_id AND v.agent_number = t.agent_number
      AND v.agent_version_number = t.agent_version_number
    LEFT JOIN people p ON p.project_id = t.project_id AND p.person_number = t.person_number`

  const listSteps = Effect.fn("SqlStorage.listSteps")(function* (
    project: ProjectId,
    session: number,
    after: StepPlace | undefined,
    limit: number
  ) {
    const project_id = yield* projects.find(project)
    const isAfter =
      after === undefined
        ? sql.literal("")
        : sql`AND (t.occurred_at, t.pack_number, t.text_start) > (${after.occurredAtMs}, ${after.pack}, ${after.start})`
    const order = sql.literal("ORDER BY t.occurred_at, t.pack_number, t.text_start")
    const rows = yield* sql<StepRow>`SELECT ${columns} FROM (
        SELECT * FROM steps t ${indexed("steps_by_start")} WHERE ${Bucket.isOfSession(sql, project_id, session, "t.")} ${isAfter}
        ${order} LIMIT ${limit}) AS t ${joins(session)} ${order}`
    return rows.map(toStep)
  })

  /** By which index steps of a session or a person are found, and on what condition; undefined if the name does not exist. */
  const startOf = Effect.fnUntraced(function* (
    project_id: number,
    { person, session }: StepFilter
  ): Effect.fn.Return<readonly [index: string, condition: Statement.Fragment] | undefined, SqlError.SqlError> {
    if (session !== undefined) {
      const [row] = yield* sql<{ session_number: Integer }>`SELECT session_number FROM sessions
        WHERE project_id = ${project_id} AND session_id = ${session}${Bucket.and(sql, Bucket.ofSession(session))}`
      return row && ["steps_by_start", Bucket.isOfSession(sql, project_id, Number(row.session_number), "t.")]
    }
    const isOfProject = sql`t.project_id = ${project_id}`
    if (person === undefined) return ["steps_by_receipt", isOfProject]
    const [row] = yield* sql<{ person_number: Integer }>`SELECT person_number FROM people
      WHERE project_id = ${project_id} AND person_id = ${person}`
    return row && ["steps_by_person", sql`${isOfProject} AND t.person_number = ${row.person_number}`]
  })

  const findSteps = Effect.fn("SqlStorage.findSteps")(function* (
    project: ProjectId,
    filter: StepFilter,
    after: StoredStep | undefined,
    limit: number
  ): Effect.fn.Return<ReadonlyArray<StoredStep>, SqlError.SqlError> {
    const { agent, agentVersion, fromMs, person } = filter
    const project_id = yield* projects.find(project)
    const start = yield* startOf(project_id, filter)
    if (start === undefined) return []
    const [index, condition] = start
    const conditions = [condition, sql`t.received_at >= ${fromMs}`]
    if (person !== undefined) conditions.push(sql`p.person_id = ${person}`)
    if (agent !== undefined) conditions.push(sql`a.agent_name = ${agent}`)
    if (agentVersion !== undefined) conditions.push(sql`v.agent_version_name = ${agentVersion}`)
    if (after !== undefined) {
      const { pack, receivedAt, sessionNumber, start } = after
      conditions.push(sql`(t.received_at, t.session_number, t.pack_number, t.text_start) >
        (${receivedAt.epochMilliseconds}, ${sessionNumber}, ${pack}, ${start})`)
    }
    const rows = yield* sql<StepRow>`SELECT ${columns} FROM steps t ${indexed(index)} ${joins()}
      WHERE ${sql.and(conditions)}
      ORDER BY t.received_at, t.session_number, t.pack_number, t.text_start LIMIT ${limit}`
    return rows.map(toStep)
  })

  return { listSteps, findSteps }
}
