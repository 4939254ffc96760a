/** What events name: fingerprints, agents, their versions, and people. Every operation works in the `CurrentProject`. */
import * as DateTime from "effect/DateTime"
import * as Effect from "effect/Effect"
import { createHash } from "node:crypto"
import type { Agent, AgentName } from "./domain/Agent.ts"
import type { AgentVersion, AgentVersionName } from "./domain/AgentVersion.ts"
import {
  type AgentNotFound,
  type AgentVersionNotFound,
  type FingerprintNotFound,
  type PersonNotFound,
  StorageUnavailable
} from "./domain/Errors.ts"
import * as Fingerprint from "./domain/Fingerprint.ts"
import type * as JsonText from "./domain/JsonText.ts"
import { Person, type PersonId } from "./domain/Person.ts"
import { CurrentProject, type ProjectId } from "./domain/Project.ts"
import { Damage } from "./payload/format/Damage.ts"
import type { Storage } from "./Storage.ts"
import type { ListPage, ListQuery } from "./storage/Lists.ts"
import type { StoredFingerprint } from "./storage/Stored.ts"
import type { Result } from "./storage/Result.ts"

/** Most bytes of free text in one page. Descriptions and properties may each be as long as a body. */
const maxPageBytes = 1024 * 1024

type PageQuery<Key> = Omit<ListQuery<Key>, "maxBytes">

export interface Resources {
  readonly createFingerprint: (fingerprint: Fingerprint.Fingerprint) => Result<Fingerprint.FingerprintId>
  readonly getFingerprint: (
    id: Fingerprint.FingerprintId
  ) => Result<Fingerprint.RegisteredFingerprint, FingerprintNotFound>
  /** In the order of their ids. All lists may have fewer rows than `limit` although there are more, if their texts are long. */
  readonly listFingerprints: (
    query: PageQuery<Fingerprint.FingerprintId>
  ) => Result<ListPage<Fingerprint.RegisteredFingerprint, Fingerprint.FingerprintId>>
  readonly createAgent: (name: AgentName, description: string) => Result<Agent>
  readonly getAgent: (name: AgentName) => Result<Agent, AgentNotFound>
  /** In the order of their numbers, like all lists with numbers. */
  readonly listAgents: (query: PageQuery<number>) => Result<ListPage<Agent, number>>
  readonly createAgentVersion: (
    agent: AgentName,
    name: AgentVersionName,
    description: string | null
  ) => Result<AgentVersion, AgentNotFound>
  readonly getAgentVersion: (
    agent: AgentName,
    name: AgentVersionName
  ) => Result<AgentVersion, AgentNotFound | AgentVersionNotFound>
  readonly listAgentVersions: (
    agent: AgentName,
    query: PageQuery<number>
  ) => Result<ListPage<AgentVersion, number>, AgentNotFound>
  /** A second deprecation changes nothing. Events may still name the version. */
  readonly deprecateAgentVersion: (
    agent: AgentName,
    name: AgentVersionName
  ) => Result<AgentVersion, AgentNotFound | AgentVersionNotFound>
  readonly createPerson: (id: PersonId, properties: JsonText.JsonText) => Result<Person>
  readonly updatePerson: (id: PersonId, properties: JsonText.JsonText) => Result<Person, PersonNotFound>
  readonly getPerson: (id: PersonId) => Result<Person, PersonNotFound>
  readonly listPeople: (query: PageQuery<number>) => Result<ListPage<Person, number>>
}

const bounded = <Key>(query: PageQuery<Key>): ListQuery<Key> => ({ ...query, maxBytes: maxPageBytes })

export const make = (storage: Storage["Service"]): Resources => ({
  createFingerprint: Effect.fn("Recorder.createFingerprint")(function* (fingerprint) {
    const project = yield* CurrentProject
    const fields = Fingerprint.toText(fingerprint)
    const id = fingerprintIdOf(project, fields)
    yield* storage.putFingerprint(project, { id, fields, createdAt: yield* DateTime.now })
    return id
  }),

  getFingerprint: Effect.fn("Recorder.getFingerprint")(function* (id) {
    return yield* registered(yield* storage.getFingerprint(yield* CurrentProject, id))
  }),

  listFingerprints: Effect.fn("Recorder.listFingerprints")(function* (query) {
    const { next, rows } = yield* storage.listFingerprints(yield* CurrentProject, bounded(query))
    return { rows: yield* Effect.forEach(rows, registered), next }
  }),

  createAgent: Effect.fn("Recorder.createAgent")(function* (name, description) {
    return yield* storage.putAgent(yield* CurrentProject, { name, description, createdAt: yield* DateTime.now })
  }),

  getAgent: Effect.fn("Recorder.getAgent")(function* (name) {
    return yield* storage.getAgent(yield* CurrentProject, name)
  }),

  listAgents: Effect.fn("Recorder.listAgents")(function* (query) {
    return yield* storage.listAgents(yield* CurrentProject, bounded(query))
  }),

  createAgentVersion: Effect.fn("Recorder.createAgentVersion")(function* (agent, name, description) {
    const createdAt = yield* DateTime.now
    return yield* storage.putAgentVersion(yield* CurrentProject, agent, { name, description, createdAt })
  }),

  getAgentVersion: Effect.fn("Recorder.getAgentVersion")(function* (agent, name) {
    return yield* storage.getAgentVersion(yield* CurrentProject, agent, name)
  }),

  listAgentVersions: Effect.fn("Recorder.listAgentVersions")(function* (agent, query) {
    return yield* storage.listAgentVersions(yield* CurrentProject, agent, bounded(query))
  }),

  deprecateAgentVersion: Effect.fn("Recorder.deprecateAgentVersion")(function* (agent, name) {
    return yield* storage.deprecateAgentVersion(yield* CurrentProject, agent, name, yield* DateTime.now)
  }),

  createPerson: Effect.fn("Recorder.createPerson")(function* (id, properties) {
    const person = new Person({ id, properties, createdAt: yield* DateTime.now })
    return yield* storage.putPerson(yield* CurrentProject, person)
  }),

  updatePerson: Effect.fn("Recorder.updatePerson")(function* (id, properties) {
    return yield* storage.updatePerson(yield* CurrentProject, id, properties)
  }),

  getPerson: Effect.fn("Recorder.getPerson")(function* (id) {
    return yield* storage.getPerson(yield* CurrentProject, id)
  }),

  listPeople: Effect.fn("Recorder.listPeople")(function* (query) {
    return yield* storage.listPeople(yield* CurrentProject, bounded(query))
  })
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
  return [
    hex.slice(0, 8),
    hex.slice(8, 12),
    `8${hex.slice(13, 16)}`,
    variant + hex.slice(17, 20),
    hex.slice(20, 32)
  ].join("-") as Fingerprint.FingerprintId
}
