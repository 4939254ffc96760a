/** What events name: fingerprints, agents, their versions, and people. Every operation works in the `CurrentProject`. */
import * as DateTime from "effect/DateTime"
import * as Effect from "effect/Effect"
import { createHash } from "node:crypto"
import type { Agent, AgentName } from "./domain/Agent.ts"
import type { AgentVersion, AgentVersionName } from "./domain/AgentVersion.ts"
import { type AgentNotFound, type FingerprintNotFound, StorageUnavailable } from "./domain/Errors.ts"
import * as Fingerprint from "./domain/Fingerprint.ts"
import type * as JsonText from "./domain/JsonText.ts"
import { Person, type PersonId } from "./domain/Person.ts"
import { type InProject, inProject, type ProjectId } from "./domain/Project.ts"
import * as Uuid from "./domain/Uuid.ts"
import { Damage } from "./payload/format/Damage.ts"
import type { Storage } from "./Storage.ts"
import { type ListPage, type ListQuery, maxPageBytes } from "./storage/Lists.ts"
import type { Resources as Port } from "./storage/Resources.ts"
import type { StoredFingerprint } from "./storage/Stored.ts"
import type { Result } from "./storage/Result.ts"

type PageQuery<Key> = Omit<ListQuery<Key>, "maxBytes">

export interface Resources extends InProject<
  Pick<Port, "getAgent" | "getAgentVersion" | "getPerson" | "updatePerson">
> {
  readonly createFingerprint: (fingerprint: Fingerprint.Fingerprint) => Result<Fingerprint.FingerprintId>
  readonly getFingerprint: (
    id: Fingerprint.FingerprintId
  ) => Result<Fingerprint.RegisteredFingerprint, FingerprintNotFound>
  /** In the order of their ids. All lists may have fewer rows than `limit` although there are more, if their texts are long. */
  readonly listFingerprints: (
    query: PageQuery<Fingerprint.FingerprintId>
  ) => Result<ListPage<Fingerprint.RegisteredFingerprint, Fingerprint.FingerprintId>>
  readonly createAgent: (name: AgentName, description: string) => Result<Agent>
  /** In the order of their numbers, like all lists with numbers. */
  readonly listAgents: (query: PageQuery<number>) => Result<ListPage<Agent, number>>
  readonly createAgentVersion: (
    agent: AgentName,
    name: AgentVersionName,
    description: string | null
  ) => Result<AgentVersion, AgentNotFound>
  readonly listAgentVersions: (
    agent: AgentName,
    query: PageQuery<number>
  ) => Result<ListPage<AgentVersion, number>, AgentNotFound>
  /** A second deprecation changes nothing. Events may still name the version. */
  readonly deprecateAgentVersion: InProject<Port>["getAgentVersion"]
  readonly createPerson: (id: PersonId, properties: JsonText.JsonText) => Result<Person>
  readonly listPeople: (query: PageQuery<number>) => Result<ListPage<Person, number>>
}

const bounded = <Key>(query: PageQuery<Key>): ListQuery<Key> => ({ ...query, maxBytes: maxPageBytes })

export const make = (storage: Storage["Service"]): Resources => ({
  createFingerprint: inProject(
    "createFingerprint",
    Effect.fnUntraced(function* (project, fingerprint) {
      const fields = Fingerprint.toText(fingerprint)
      const id = fingerprintIdOf(project, fields)
      yield* storage.putFingerprint(project, { id, fields, createdAt: yield* DateTime.now })
      return id
    })
  ),
  getFingerprint: inProject("getFingerprint", (project, id) =>
    Effect.flatMap(storage.getFingerprint(project, id), registered)
  ),
  listFingerprints: inProject(
    "listFingerprints",
    Effect.fnUntraced(function* (project, query) {
      const { next, rows } = yield* storage.listFingerprints(project, bounded(query))
      return { rows: yield* Effect.forEach(rows, registered), next }
    })
  ),

  createAgent: inProject("createAgent", (project, name, description) =>
    Effect.flatMap(DateTime.now, (createdAt) => storage.putAgent(project, { name, description, createdAt }))
  ),
  getAgent: inProject("getAgent", storage.getAgent),
  listAgents: inProject("listAgents", (project, query) => storage.listAgents(project, bounded(query))),

  createAgentVersion: inProject("createAgentVersion", (project, agent, name, description) =>
    Effect.flatMap(DateTime.now, (createdAt) =>
      storage.putAgentVersion(project, agent, { name, description, createdAt })
    )
  ),
  getAgentVersion: inProject("getAgentVersion", storage.getAgentVersion),
  listAgentVersions: inProject("listAgentVersions", (project, agent, query) =>
    storage.listAgentVersions(project, agent, bounded(query))
  ),
  deprecateAgentVersion: inProject("deprecateAgentVersion", (project, agent, name) =>
    Effect.flatMap(DateTime.now, (now) => storage.deprecateAgentVersion(project, agent, name, now))
  ),

  createPerson: inProject("createPerson", (project, id, properties) =>
    Effect.flatMap(DateTime.now, (createdAt) => storage.putPerson(project, new Person({ id, properties, createdAt })))
  ),
  updatePerson: inProject("updatePerson", storage.updatePerson),
  getPerson: inProject("getPerson", storage.getPerson),
  listPeople: inProject("listPeople", (project, query) => storage.listPeople(project, bounded(query)))
})

const registered = ({ createdAt, fields, id }: StoredFingerprint) =>
  Effect.try({
    try: () =>
      new Fingerprint.RegisteredFingerprint({ id, ...Fingerprint.ofText(fields), createdAt }, { disableChecks: true }),
    catch: () =>
      new StorageUnavailable({ cause: new Damage(`The fields of the fingerprint ${id} are not what was registered`) })
  })

/** A UUIDv8 (RFC 9562) from the SHA-256 of project and fields: every process gives a fingerprint the same id. */
const fingerprintIdOf = (project: ProjectId, fields: JsonText.JsonText): Fingerprint.FingerprintId => {
  const hex = createHash("sha256").update(JSON.stringify(project)).update(fields).digest("hex")
  const variant = (8 + (Number.parseInt(hex.charAt(16), 16) % 4)).toString(16)
  return Uuid.fromHex(
    `${hex.slice(0, 12)}8${hex.slice(13, 16)}${variant}${hex.slice(17, 32)}`
  ) as Fingerprint.FingerprintId
}
