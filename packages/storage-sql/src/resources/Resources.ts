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

export const make = (
  sql: SqlClient.SqlClient,
  projects: Projects.Projects,
  { operation, operationOf }: Operations.Operations
) => {
  const fingerprints = Fingerprints.make(sql, projects)
  const agents = Agents.make(sql, projects)
  const versions = AgentVersions.make(sql, projects, agents)
  const people = People.make(sql, projects)
  const lists = Lists.make(sql, projects)
  const keys = ApiKeys.make(sql, projects)
  const audit = Audit.make(sql, projects)
  return {
    putFingerprint: operation("putFingerprint", fingerprints.putFingerprint),
    hasFingerprint: operation("hasFingerprint", fingerprints.hasFingerprint),
    getFingerprint: operation("getFingerprint", fingerprints.getFingerprint),
    listFingerprints: operation("listFingerprints", lists.listFingerprints),
    putAgent: operation("putAgent", agents.putAgent),
    listAgents: operation("listAgents", lists.listAgents),
    getAgent: operation("getAgent", agents.getAgent),
    putAgentVersion: operation("putAgentVersion", versions.putAgentVersion),
    getAgentVersion: operation("getAgentVersion", versions.getAgentVersion),
    listAgentVersions: operation("listAgentVersions", lists.listAgentVersions),
    deprecateAgentVersion: operation("deprecateAgentVersion", versions.deprecateAgentVersion),
    putPerson: operation("putPerson", people.putPerson),
    listPeople: operation("listPeople", lists.listPeople),
    getPerson: operation("getPerson", people.getPerson),
    updatePerson: operation("updatePerson", people.updatePerson),
    putApiKey: operation("putApiKey", keys.putApiKey),
    findApiKey: operation("findApiKey", keys.findApiKey),
    listApiKeys: operationOf("listApiKeys", keys.listApiKeys),
    apiKeyHashes: operationOf("apiKeyHashes", keys.apiKeyHashes),
    revokeApiKey: operation("revokeApiKey", keys.revokeApiKey),
    appendAudit: operation("appendAudit", audit.appendAudit),
    listAudit: operation("listAudit", audit.listAudit),
    takeLease: operation("takeLease", Leases.make(sql).takeLease)
  }
}
