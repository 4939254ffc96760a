/** The names behind the numbers of rollups, and the numbers of the names in a filter. */
import type { AgentName, AgentVersionName, PersonId, SessionFilter, SessionId, SessionParts } from "@tachograph/core"
import * as Effect from "effect/Effect"
import type { SqlClient, Statement } from "effect/sql"
import * as BulkValues from "../dialect/BulkValues.ts"
import * as Bucket from "../dialect/Bucket.ts"
import type { Integer } from "../sql/RowDecoding.ts"

/** Numbers in one statement. */
const maxNumbers = 1_000

/** A number that no row has. */
const noNumber = -1

export const versionKey = (agent: number, agentVersion: number): string => `${agent} ${agentVersion}`

export const make = (sql: SqlClient.SqlClient) => {
  const select = Effect.fnUntraced(function* <Name extends string>(
    table: Statement.Fragment,
    number: string,
    name: string,
    numbers: Iterable<number>
  ) {
    const names = new Map<number, Name>()
    for (const chunk of BulkValues.chunks(Array.from(new Set(numbers)), maxNumbers)) {
      const rows = yield* sql<{ number: Integer; name: Name }>`SELECT ${sql(number)} AS number, ${sql(name)} AS name
        FROM ${table} AND ${BulkValues.isAmong(sql, number, "integer", chunk)}`
      for (const row of rows) names.set(Number(row.number), row.name)
    }
    return names
  })

  const agents = (project_id: number, numbers: Iterable<number>) =>
    select<AgentName>(sql`agents WHERE project_id = ${project_id}`, "agent_number", "agent_name", numbers)

  const people = (project_id: number, numbers: Iterable<number>) =>
    select<PersonId>(sql`people WHERE project_id = ${project_id}`, "person_number", "person_id", numbers)

  const sessions = (project_id: number, numbers: Iterable<number>) => {
    const all = Array.from(numbers)
    const ofBuckets = all.length === 0 ? sql.literal("") : Bucket.and(sql, all.map(Bucket.ofNumber))
    return select<SessionId>(
      sql`sessions WHERE project_id = ${project_id}${ofBuckets}`,
      "session_number",
      "session_id",
      all
    )
  }

  /** The versions of these agents, or of all of them, by `versionKey`. */
  const agentVersions = Effect.fnUntraced(function* (project_id: number, agents?: Iterable<number>) {
    const names = new Map<string, AgentVersionName>()
    const parts = agents && BulkValues.chunks(Array.from(new Set(agents)), maxNumbers)
    const ofAgents = parts?.map((chunk) => sql` AND ${BulkValues.isAmong(sql, "agent_number", "integer", chunk)}`)
    for (const part of ofAgents ?? [sql.literal("")]) {
      const rows = yield* sql<{ agent: Integer; version: Integer; name: AgentVersionName }>`
        SELECT agent_number AS agent, agent_version_number AS version, agent_version_name AS name FROM agent_versions
        WHERE project_id = ${project_id}${part}`
      for (const { agent, name, version } of rows) names.set(versionKey(Number(agent), Number(version)), name)
    }
    return names
  })

  /** What rows must have to match a filter. */
  const filterOf = Effect.fnUntraced(function* (
    project_id: number,
    { agent, agentVersion, isError, model, person }: SessionFilter
  ) {
    const numberOf = Effect.fnUntraced(function* (number: string, table: string, name: string, value: string) {
      const [row] = yield* sql<{ number: Integer }>`SELECT ${sql(number)} AS number FROM ${sql(table)}
        WHERE project_id = ${project_id} AND ${sql(name)} = ${value}`
      return row === undefined ? noNumber : Number(row.number)
    })
    const versions =
      agentVersion &&
      (yield* sql<{ agent: Integer; version: Integer }>`
        SELECT agent_number AS agent, agent_version_number AS version FROM agent_versions
        WHERE project_id = ${project_id} AND agent_version_name = ${agentVersion}`)
    return {
      agent: agent && (yield* numberOf("agent_number", "agents", "agent_name", agent)),
      agentVersions: versions && new Map(versions.map((row) => [Number(row.agent), Number(row.version)])),
      person: person && (yield* numberOf("person_number", "people", "person_id", person)),
      model,
      isError
    } as SessionParts.PartFilter
  })

  /** The numbers of the people who exist. */
  const peopleNumbers = Effect.fnUntraced(function* (project_id: number, ids: ReadonlyArray<PersonId>) {
    const numbers = new Set<number>()
    for (const chunk of BulkValues.chunks(ids)) {
      const rows = yield* sql<{ number: Integer }>`SELECT person_number AS number FROM people
        WHERE project_id = ${project_id} AND ${BulkValues.isAmong(sql, "person_id", "varchar", chunk)}`
      for (const { number } of rows) numbers.add(Number(number))
    }
    return numbers as ReadonlySet<number>
  })

  return { agents, agentVersions, filterOf, people, peopleNumbers, sessions }
}
