/** The versions of agents. */
import {
  type Agent,
  type AgentName,
  type AgentVersion,
  type AgentVersionName,
  Errors,
  type ProjectId
} from "@tachograph/core"
import type * as DateTime from "effect/DateTime"
import * as Effect from "effect/Effect"
import type { SqlClient } from "effect/sql"
import * as TwoPhaseCommit from "../dialect/TwoPhaseCommit.ts"
import * as AgentVersionNumbers from "../names/AgentVersionNumbers.ts"
import type * as Projects from "../names/Projects.ts"
import { agentVersionColumns, type AgentVersionRow, toAgentVersion } from "../sql/RowDecoding.ts"
import type * as Agents from "./Agents.ts"
import * as NamedRows from "./NamedRows.ts"

export const make = (sql: SqlClient.SqlClient, projects: Projects.Projects, { getAgent }: Agents.Agents) => {
  const findAgentVersion = Effect.fnUntraced(function* (project: number, agent: Agent, name: AgentVersionName) {
    const [row] = yield* sql<AgentVersionRow>`
      SELECT ${sql.literal(agentVersionColumns)} FROM agent_versions
      WHERE project_id = ${project} AND agent_number = ${agent.number} AND agent_version_name = ${name}`
    return row && toAgentVersion(row)
  })

  const getAgentVersion = Effect.fn("SqlStorage.getAgentVersion")(function* (
    project: ProjectId,
    agentName: AgentName,
    name: AgentVersionName
  ) {
    const agent = yield* getAgent(project, agentName)
    const version = yield* findAgentVersion(yield* projects.find(project), agent, name)
    return version ?? (yield* new Errors.AgentVersionNotFound())
  })

  const putAgentVersion = Effect.fn("SqlStorage.putAgentVersion")(function* (
    project: ProjectId,
    agentName: AgentName,
    version: Omit<AgentVersion, "number" | "deprecatedAt">
  ) {
    const agent = yield* getAgent(project, agentName)
    const project_id = yield* projects.findOrCreate(project)
    const description = NamedRows.textOf(version, JSON.stringify(version.description))
    const wanted = {
      agent_number: agent.number,
      agent_version_name: version.name,
      description,
      ...NamedRows.createdAt(version)
    }
    return yield* NamedRows.putFirst(version, {
      find: findAgentVersion(project_id, agent, version.name),
      create: TwoPhaseCommit.onAllNodes(sql, AgentVersionNumbers.ensure(sql, project_id, [wanted])),
      give: ({ number }) =>
        TwoPhaseCommit.onAllNodes(
          sql,
          sql`UPDATE agent_versions SET description = ${description}
            WHERE project_id = ${project_id} AND agent_number = ${agent.number} AND agent_version_number = ${number}
              AND description IS NULL`
        )
    })
  })

  const deprecateAgentVersion = Effect.fn("SqlStorage.deprecateAgentVersion")(function* (
    project: ProjectId,
    agentName: AgentName,
    name: AgentVersionName,
    at: DateTime.Utc
  ) {
    const agent = yield* getAgent(project, agentName)
    const number = yield* projects.find(project)
    const version = yield* findAgentVersion(number, agent, name)
    if (version === undefined) return yield* new Errors.AgentVersionNotFound()
    if (version.deprecatedAt !== null) return version
    // Another process may deprecate it meanwhile: the first time stays.
    const [row] = yield* TwoPhaseCommit.onAllNodes(
      sql,
      sql<AgentVersionRow>`
        UPDATE agent_versions SET deprecated_at = coalesce(deprecated_at, ${at.epochMilliseconds})
        WHERE project_id = ${number} AND agent_number = ${agent.number} AND agent_version_number = ${version.number}
        RETURNING ${sql.literal(agentVersionColumns)}`
    )
    return toAgentVersion(row!)
  })

  return { putAgentVersion, getAgentVersion, deprecateAgentVersion }
}
