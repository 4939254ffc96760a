/** Agents. */
import { type Agent, type AgentName, Errors, type ProjectId } from "@tachograph/core"
import * as Effect from "effect/Effect"
import type { SqlClient } from "effect/sql"
import * as TwoPhaseCommit from "../dialect/TwoPhaseCommit.ts"
import * as NumberedNames from "../names/NumberedNames.ts"
import type * as Projects from "../names/Projects.ts"
import { agentColumns, type AgentRow, toAgent } from "../sql/RowDecoding.ts"
import * as NamedRows from "./NamedRows.ts"

export const make = (sql: SqlClient.SqlClient, projects: Projects.Projects) => {
  const findAgent = Effect.fnUntraced(function* (project: number, name: AgentName) {
    const [row] = yield* sql<AgentRow>`SELECT ${sql.literal(agentColumns)} FROM agents
      WHERE project_id = ${project} AND agent_name = ${name}`
    return row && toAgent(row)
  })

  const getAgent = Effect.fn("SqlStorage.getAgent")(function* (project: ProjectId, name: AgentName) {
    const agent = yield* findAgent(yield* projects.find(project), name)
    return agent ?? (yield* new Errors.AgentNotFound())
  })

  const putAgent = Effect.fn("SqlStorage.putAgent")(function* (project: ProjectId, agent: Omit<Agent, "number">) {
    const project_id = yield* projects.findOrCreate(project)
    const description = NamedRows.textOf(agent, JSON.stringify(agent.description))
    return yield* NamedRows.putFirst(agent, {
      find: findAgent(project_id, agent.name),
      create: NamedRows.create(sql, NumberedNames.agents, project_id, agent.name, {
        description,
        ...NamedRows.createdAt(agent)
      }),
      give: ({ number }) =>
        TwoPhaseCommit.onAllNodes(
          sql,
          sql`UPDATE agents SET description = ${description}
            WHERE project_id = ${project_id} AND agent_number = ${number} AND description IS NULL`
        )
    })
  })

  return { putAgent, getAgent }
}

export type Agents = ReturnType<typeof make>
