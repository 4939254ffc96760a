/** What events name. */
import type * as DateTime from "effect/DateTime"
import type { Agent, AgentName } from "../domain/Agent.ts"
import type { AgentVersion, AgentVersionName } from "../domain/AgentVersion.ts"
import type { AgentNotFound, AgentVersionNotFound, FingerprintNotFound, PersonNotFound } from "../domain/Errors.ts"
import type { FingerprintId } from "../domain/Fingerprint.ts"
import type { JsonText } from "../domain/JsonText.ts"
import type { Person, PersonId } from "../domain/Person.ts"
import type { ProjectId } from "../domain/Project.ts"
import type { ListPage, ListQuery } from "./Lists.ts"
import type { Result } from "./Result.ts"
import type { StoredFingerprint } from "./Stored.ts"

export interface Resources {
  /** Stores a fingerprint under an id derived from its content. Idempotent. */
  readonly putFingerprint: (project: ProjectId, fingerprint: StoredFingerprint) => Result<void>
  readonly hasFingerprint: (project: ProjectId, id: FingerprintId) => Result<boolean>
  /** As it was put first. */
  readonly getFingerprint: (project: ProjectId, id: FingerprintId) => Result<StoredFingerprint, FingerprintNotFound>
  /** In the order of their ids. */
  readonly listFingerprints: (
    project: ProjectId,
    query: ListQuery<FingerprintId>
  ) => Result<ListPage<StoredFingerprint, FingerprintId>>
  /**
   * Creates and numbers it, or returns the existing one unchanged. If only events have named that one (`isNamedOnly`), it gets the
   * description, unless what is put is itself only named.
   */
  readonly putAgent: (project: ProjectId, agent: Omit<Agent, "number">) => Result<Agent>
  readonly getAgent: (project: ProjectId, name: AgentName) => Result<Agent, AgentNotFound>
  /** In the order of their numbers, like all lists with numbers. */
  readonly listAgents: (project: ProjectId, query: ListQuery<number>) => Result<ListPage<Agent, number>>
  /** The same for a version. */
  readonly putAgentVersion: (
    project: ProjectId,
    agent: AgentName,
    version: Omit<AgentVersion, "number" | "deprecatedAt">
  ) => Result<AgentVersion, AgentNotFound>
  readonly getAgentVersion: (
    project: ProjectId,
    agent: AgentName,
    version: AgentVersionName
  ) => Result<AgentVersion, AgentNotFound | AgentVersionNotFound>
  readonly listAgentVersions: (
    project: ProjectId,
    agent: AgentName,
    query: ListQuery<number>
  ) => Result<ListPage<AgentVersion, number>, AgentNotFound>
  /** Returns the version. A second deprecation keeps the time of the first. */
  readonly deprecateAgentVersion: (
    project: ProjectId,
    agent: AgentName,
    version: AgentVersionName,
    at: DateTime.Utc
  ) => Result<AgentVersion, AgentNotFound | AgentVersionNotFound>
  /** The same for a person and their properties. */
  readonly putPerson: (project: ProjectId, person: Person) => Result<Person>
  readonly getPerson: (project: ProjectId, id: PersonId) => Result<Person, PersonNotFound>
  readonly listPeople: (project: ProjectId, query: ListQuery<number>) => Result<ListPage<Person, number>>
  /** Replaces all properties. */
  readonly updatePerson: (project: ProjectId, id: PersonId, properties: JsonText) => Result<Person, PersonNotFound>
}
