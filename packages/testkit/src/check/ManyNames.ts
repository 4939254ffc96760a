/** Many agents, versions of one of them, people and fingerprints of one project of a SQL storage, and pages of their lists. */
import { AgentName, type FingerprintId, ProjectId, type Storage } from "@tachograph/core"
import * as Effect from "effect/Effect"
import type { SqlClient, SqlError } from "effect/sql"

export const names = 5_000
const project = ProjectId.make("default")
const first = AgentName.make("n1")
const middle = names / 2

/** The fingerprint whose id begins a page in the middle. */
const fingerprint = `00000000-0000-8000-8000-${middle.toString(16).padStart(12, "0")}` as FingerprintId

/** Into an empty storage. */
export const fill = Effect.fnUntraced(function* (sql: SqlClient.SqlClient): Effect.fn.Return<void, SqlError.SqlError> {
  const numbers = sql`WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ${names})`
  const uuid = sql.onDialectOrElse({
    pg: () => sql`('00000000-0000-8000-8000-' || lpad(to_hex(i), 12, '0'))::uuid`,
    orElse: () => sql`unhex('00000000000080008000' || printf('%012x', i))`
  })
  yield* sql`INSERT INTO projects (project_id, project_name, agents, people) VALUES (1, 'default', ${names}, ${names})`
  yield* sql`INSERT INTO agents (project_id, agent_number, agent_name, created_at, description)
    ${numbers} SELECT 1, i, 'n' || i, 0, '""' FROM n`
  yield* sql`INSERT INTO agent_versions (project_id, agent_number, agent_version_number, agent_version_name, created_at)
    ${numbers} SELECT 1, 1, i, 'n' || i, 0 FROM n`
  yield* sql`INSERT INTO people (project_id, person_number, person_id, created_at, properties)
    ${numbers} SELECT 1, i, 'n' || i, 0, '{}' FROM n`
  yield* sql`INSERT INTO fingerprints (project_id, fingerprint_id, created_at, fields)
    ${numbers} SELECT 1, ${uuid}, 0, '{}' FROM n`
})

/** A page in the middle of each list; a later page costs no more than the first one. */
export const pages = (
  { listAgents, listAgentVersions, listFingerprints, listPeople }: Storage["Service"],
  limit = 20
) => {
  const query = { after: middle, limit, maxBytes: 1_000_000 }
  return Effect.all({
    agents: listAgents(project, query),
    agentVersions: listAgentVersions(project, first, query),
    people: listPeople(project, query),
    fingerprints: listFingerprints(project, { ...query, after: fingerprint })
  })
}
