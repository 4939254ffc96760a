/** The operations of everything but events: what events name, API keys, and the audit log. */
import type { SqlClient } from "effect/sql"
import type * as Projects from "../names/Projects.ts"
import type * as Operations from "../sql/Operations.ts"
import * as Agents from "./Agents.ts"
import * as AgentVersions from "./AgentVersions.ts"
import * as ApiKeys from "./ApiKeys.ts"
import * as Audit from "./Audit.ts"
import * as Fingerprints from "./Fingerprints.ts"
import * as Leases from "./Leases.ts"
import * as Lists from "./Lists.ts"
import * as People from "./People.ts"

export const make = (sql: SqlClient.SqlClient, projects: Projects.Projects, { operations }: Operations.Operations) => {
  const agents = Agents.make(sql, projects)
  return operations({
    ...Fingerprints.make(sql, projects),
    ...agents,
    ...AgentVersions.make(sql, projects, agents),
    ...People.make(sql, projects),
    ...Lists.make(sql, projects),
    ...ApiKeys.make(sql, projects),
    ...Audit.make(sql, projects),
    ...Leases.make(sql)
  })
}
