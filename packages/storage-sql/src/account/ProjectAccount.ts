/** A project's counters, beside what they count: shared pieces, numbers, and usage of agents. One statement, as for a session. */
import type { AgentName, NumberAccount, ProjectAccount, ProjectId } from "@tachograph/core"
import * as Effect from "effect/Effect"
import type { SqlClient, Statement } from "effect/sql"
import * as Bucket from "../dialect/Bucket.ts"
import * as Dialects from "../dialect/Dialects.ts"
import type * as Projects from "../names/Projects.ts"
import type { Integer } from "../sql/RowDecoding.ts"
import * as SpaceCounters from "../space/SpaceCounters.ts"
import { noTotals, totalsOf } from "./UsageTotals.ts"

/** What a row of a project's account says. */
interface ProjectRow {
  readonly part: "kept" | "counted" | "agent" | "keptOfAgent" | "countedOfAgent" | NumberAccount["of"]
  readonly name: AgentName | null
  readonly a: Integer
  readonly b: Integer
  readonly c: Integer
  readonly d: Integer
  readonly e: Integer
}

export const make = (sql: SqlClient.SqlClient, projects: Projects.Projects) => {
  const { types } = Dialects.of(sql)

  const sessionNumbers = (isOfProject: Statement.Fragment) =>
    Bucket.isDistributed(sql)
      ? sql`SELECT 'sessions', NULL, max(c.last_session), max(s.session_number), 0, 0, 0 FROM session_counters c
          LEFT JOIN sessions s ON s.project_id = c.project_id AND s.bucket = c.bucket WHERE c.${isOfProject}
          HAVING count(*) > 0`
      : sql`SELECT 'sessions', NULL, sessions,
          (SELECT max(session_number) FROM sessions WHERE ${isOfProject}), 0, 0, 0 FROM projects WHERE ${isOfProject}`

  return Effect.fn("SqlStorage.projectAccount")(function* (project: ProjectId) {
    const project_id = yield* projects.find(project)
    const isOfProject = sql`project_id = ${project_id}`
    const isOfShared = sql`${isOfProject} AND session_number = ${SpaceCounters.ofProject.session_number} AND agent_number = ${SpaceCounters.ofProject.agent_number}`
    const sums = sql.literal("agent_number, sum(entries), sum(sent_bytes), sum(new_bytes), sum(stored_bytes)")
    const rows = yield* sql<ProjectRow>`
      SELECT 'kept' AS part, CAST(NULL AS ${sql.literal(types.text)}) AS name, ${SpaceCounters.ofProject.agent_number} AS a, sum(entries) AS b,
        sum(sent_bytes) AS c, sum(new_bytes) AS d, sum(stored_bytes) AS e FROM storage_usage WHERE ${isOfShared}
      UNION ALL SELECT 'counted', NULL, ${SpaceCounters.ofProject.agent_number}, count(*), 0, coalesce(sum(CAST(size AS bigint)), 0),
        coalesce(sum(CAST(octet_length(piece) AS bigint)), 0) FROM shared_pieces WHERE ${isOfProject}
      UNION ALL SELECT 'agents', NULL, agents,
        (SELECT max(agent_number) FROM agents WHERE ${isOfProject}), 0, 0, 0 FROM projects WHERE ${isOfProject}
      UNION ALL SELECT 'people', NULL, people,
        (SELECT max(person_number) FROM people WHERE ${isOfProject}), 0, 0, 0 FROM projects WHERE ${isOfProject}
      UNION ALL ${sessionNumbers(isOfProject)}
      UNION ALL SELECT 'versions', agent_name, versions, (SELECT max(v.agent_version_number) FROM agent_versions v
        WHERE v.project_id = a.project_id AND v.agent_number = a.agent_number), 0, 0, 0 FROM agents a WHERE ${isOfProject}
      UNION ALL SELECT 'agent', agent_name, agent_number, 0, 0, 0, 0 FROM agents WHERE ${isOfProject}
      UNION ALL SELECT 'keptOfAgent', NULL, ${sums} FROM agent_usage WHERE ${isOfProject} GROUP BY agent_number
      UNION ALL SELECT 'countedOfAgent', NULL, ${sums} FROM storage_usage
        WHERE ${isOfProject} AND session_number <> ${SpaceCounters.ofProject.session_number} GROUP BY agent_number`
    return accountOf(rows)
  })
}

const accountOf = (rows: ReadonlyArray<ProjectRow>): ProjectAccount => {
  let kept = noTotals
  let counted = noTotals
  const numbers: Array<ProjectAccount["numbers"][number]> = []
  const agents = new Map<number, ProjectAccount["agents"][number]>()
  const addAgent = ({ a }: ProjectRow, update: Partial<ProjectAccount["agents"][number]>) => {
    const agent = Number(a)
    const found = agents.get(agent) ?? { agent, agentName: undefined, kept: noTotals, counted: noTotals }
    agents.set(agent, { ...found, ...update })
  }
  for (const row of rows) {
    switch (row.part) {
      case "kept":
        kept = totalsOf(row)
        break
      case "counted":
        counted = totalsOf(row)
        break
      case "agent":
        addAgent(row, { agentName: row.name! })
        break
      case "keptOfAgent":
        addAgent(row, { kept: totalsOf(row) })
        break
      case "countedOfAgent":
        addAgent(row, { counted: totalsOf(row) })
        break
      default: {
        const { a, b, name, part } = row
        numbers.push({
          of: part,
          ...(name === null ? {} : { agent: name }),
          kept: Number(a),
          highest: Number(b ?? 0)
        })
      }
    }
  }
  return { shared: { kept, counted }, numbers, agents: Array.from(agents.values()) }
}
