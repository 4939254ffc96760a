/** Fingerprints, agents, versions and people. */
import {
  type Agent,
  type AgentName,
  type AgentVersion,
  type AgentVersionName,
  Errors,
  type FingerprintId,
  type JsonText,
  type Person,
  type PersonId,
  type ProjectId,
  type StoredFingerprint
} from "@tachograph/core"
import { isFirst, type Named } from "@tachograph/core/domain/Named"
import type * as DateTime from "effect/DateTime"
import * as Effect from "effect/Effect"
import type { SqlClient, SqlError } from "effect/sql"
import * as UuidColumn from "../dialect/UuidColumn.ts"
import * as TwoPhaseCommit from "../dialect/TwoPhaseCommit.ts"
import * as AgentVersionNumbers from "../names/AgentVersionNumbers.ts"
import * as NumberedNames from "../names/NumberedNames.ts"
import type * as Projects from "../names/Projects.ts"
import {
  agentColumns,
  type AgentRow,
  agentVersionColumns,
  type AgentVersionRow,
  fingerprintColumns,
  type FingerprintRow,
  isJsonObject,
  personColumns,
  type PersonRow,
  toAgent,
  toAgentVersion,
  toFingerprint,
  toPerson
} from "../sql/RowDecoding.ts"
import * as Attempts from "../sql/Attempts.ts"
import * as SqlErrors from "../sql/SqlErrors.ts"

/** What a column of free text holds: nothing while it is only named. */
const textOf = ({ isNamedOnly = false }: Named, text: string): string | null => (isNamedOnly ? null : text)

const createdAt = ({ createdAt }: { readonly createdAt: DateTime.Utc }) => ({
  created_at: createdAt.epochMilliseconds
})

/**
 * Creates what does not exist, and gives what is only named its text: of several at a time, the first one does. Begins again
 * where the row was deleted meanwhile, as an erasure deletes a person.
 */
const putFirst = Effect.fnUntraced(function* <A extends Named>(
  put: Named,
  steps: {
    readonly find: Effect.Effect<A | undefined, SqlError.SqlError>
    readonly create: Effect.Effect<unknown, SqlError.SqlError>
    readonly give: (found: A) => Effect.Effect<unknown, SqlError.SqlError>
  }
) {
  const attempt = Attempts.make("Creating a name")
  for (;;) {
    const found = yield* steps.find
    if (found !== undefined && !isFirst(put, found)) return found
    yield* attempt
    yield* found === undefined ? steps.create : steps.give(found)
  }
})

export const make = (sql: SqlClient.SqlClient, projects: Projects.Projects) => {
  const toStored = UuidColumn.encoder(sql)
  const putFingerprint = Effect.fn("SqlStorage.putFingerprint")(function* (
    project: ProjectId,
    fingerprint: StoredFingerprint
  ) {
    // Without a write where it exists: in a distributed database that would need all nodes.
    if (yield* hasFingerprint(project, fingerprint.id)) return
    const row = {
      project_id: yield* projects.findOrCreate(project),
      fingerprint_id: toStored(fingerprint.id),
      fields: fingerprint.fields,
      created_at: fingerprint.createdAt.epochMilliseconds
    }
    yield* sql`INSERT INTO fingerprints ${sql.insert(row)} ON CONFLICT (project_id, fingerprint_id) DO NOTHING`
  })

  const hasFingerprint = Effect.fn("SqlStorage.hasFingerprint")(function* (project: ProjectId, id: FingerprintId) {
    const number = yield* projects.find(project)
    if (number === undefined) return false
    const rows = yield* sql`SELECT 1 FROM fingerprints
      WHERE project_id = ${number} AND fingerprint_id = ${toStored(id)}`
    return rows.length > 0
  })

  const getFingerprint = Effect.fn("SqlStorage.getFingerprint")(function* (project: ProjectId, id: FingerprintId) {
    const number = yield* projects.find(project)
    if (number === undefined) return yield* new Errors.FingerprintNotFound()
    const [row] = yield* sql<FingerprintRow>`SELECT ${sql.literal(fingerprintColumns)} FROM fingerprints
      WHERE project_id = ${number} AND fingerprint_id = ${toStored(id)}`
    return row === undefined ? yield* new Errors.FingerprintNotFound() : toFingerprint(row)
  })

  const findAgent = Effect.fnUntraced(function* (project: number | undefined, name: AgentName) {
    if (project === undefined) return undefined
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
    const description = textOf(agent, JSON.stringify(agent.description))
    return yield* putFirst(agent, {
      find: findAgent(project_id, agent.name),
      create: create(NumberedNames.agents, project_id, agent.name, { description, ...createdAt(agent) }),
      give: ({ number }) =>
        TwoPhaseCommit.onAllNodes(
          sql,
          sql`UPDATE agents SET description = ${description}
            WHERE project_id = ${project_id} AND agent_number = ${number} AND description IS NULL`
        )
    })
  })

  /** Runs its own transaction. */
  const create = (
    kind: (typeof NumberedNames)["agents"],
    project_id: number,
    name: string,
    columns: Readonly<Record<string, unknown>>
  ) => TwoPhaseCommit.onAllNodes(sql, NumberedNames.ensure(sql, kind, project_id, new Map([[name, columns]])))

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
    const version = yield* findAgentVersion((yield* projects.find(project))!, agent, name)
    return version ?? (yield* new Errors.AgentVersionNotFound())
  })

  const putAgentVersion = Effect.fn("SqlStorage.putAgentVersion")(function* (
    project: ProjectId,
    agentName: AgentName,
    version: Omit<AgentVersion, "number" | "deprecatedAt">
  ) {
    const agent = yield* getAgent(project, agentName)
    const project_id = yield* projects.findOrCreate(project)
    const description = textOf(version, JSON.stringify(version.description))
    const wanted = { agent_number: agent.number, agent_version_name: version.name, description, ...createdAt(version) }
    return yield* putFirst(version, {
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
    const number = (yield* projects.find(project))!
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

  const findPerson = Effect.fnUntraced(function* (project: number | undefined, id: PersonId) {
    if (project === undefined) return undefined
    const [row] = yield* sql<PersonRow>`SELECT ${sql.literal(personColumns)} FROM people
      WHERE project_id = ${project} AND person_id = ${id}`
    if (row !== undefined && row.properties !== null && !isJsonObject(row.properties)) {
      return yield* Effect.fail(SqlErrors.damage("The properties of a person are not JSON"))
    }
    return row && toPerson(row)
  })

  const getPerson = Effect.fn("SqlStorage.getPerson")(function* (project: ProjectId, id: PersonId) {
    const person = yield* findPerson(yield* projects.find(project), id)
    return person ?? (yield* new Errors.PersonNotFound())
  })

  const putPerson = Effect.fn("SqlStorage.putPerson")(function* (project: ProjectId, person: Person) {
    const project_id = yield* projects.findOrCreate(project)
    const properties = textOf(person, person.properties)
    return yield* putFirst(person, {
      find: findPerson(project_id, person.id),
      create: create(NumberedNames.people, project_id, person.id, { properties, ...createdAt(person) }),
      give: () =>
        TwoPhaseCommit.onAllNodes(
          sql,
          sql`UPDATE people SET properties = ${properties}
            WHERE project_id = ${project_id} AND person_id = ${person.id} AND properties IS NULL`
        )
    })
  })

  const updatePerson = Effect.fn("SqlStorage.updatePerson")(function* (
    project: ProjectId,
    id: PersonId,
    properties: JsonText.JsonText
  ) {
    const number = yield* projects.find(project)
    if (number === undefined) return yield* new Errors.PersonNotFound()
    const [row] = yield* TwoPhaseCommit.onAllNodes(
      sql,
      sql<PersonRow>`UPDATE people SET properties = ${properties}
        WHERE project_id = ${number} AND person_id = ${id} RETURNING ${sql.literal(personColumns)}`
    )
    return row === undefined ? yield* new Errors.PersonNotFound() : toPerson(row)
  })

  return {
    putFingerprint,
    hasFingerprint,
    getFingerprint,
    putAgent,
    getAgent,
    putAgentVersion,
    getAgentVersion,
    deprecateAgentVersion,
    putPerson,
    getPerson,
    updatePerson
  }
}
