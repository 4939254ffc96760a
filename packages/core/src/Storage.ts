/**
 * The port to a database. A storage speaks the domain's verbs, each of them atomic: it has happened whole and is durable
 * when its effect succeeds, and has left no trace when it fails. Payloads are bytes here, and stay the bytes they are.
 *
 * Nothing is visible across projects. Text may be any well-formed Unicode without U+0000 where the domain says `Name`;
 * descriptions may hold anything that JSON can.
 */
import { Context, type DateTime, type Effect } from "effect"
import type { Agent, AgentName } from "./domain/Agent.ts"
import type { AgentVersion, AgentVersionName } from "./domain/AgentVersion.ts"
import type { ApiKey } from "./domain/ApiKey.ts"
import type {
  AgentNotFound,
  AgentVersionNotFound,
  EventNotFound,
  PersonNotFound,
  StorageUnavailable
} from "./domain/Errors.ts"
import type { EventId, EventSummary } from "./domain/Event.ts"
import type { FingerprintId } from "./domain/Fingerprint.ts"
import type { JsonText } from "./domain/JsonText.ts"
import type { Person, PersonId } from "./domain/Person.ts"
import type { ProjectId } from "./domain/Project.ts"
import type { SessionId } from "./domain/Session.ts"

type Result<A, E = never> = Effect.Effect<A, E | StorageUnavailable>

export class Storage extends Context.Service<
  Storage,
  {
    /**
     * Appends all or none. Agents, versions, people and sessions that do not exist are created with the defaults of the
     * interface; agents are numbered from 1 within the project, versions within their agent, in any concurrency without
     * gaps. An id that is there already is a defect of the caller's: the effect dies, and nothing is appended.
     */
    readonly appendEvents: (events: ReadonlyArray<AppendEvent>) => Result<void>
    readonly getEvent: (project: ProjectId, id: EventId) => Result<StoredEvent, EventNotFound>
    /** In the order of ids, and so of time. */
    readonly listEvents: (project: ProjectId, query: EventQuery) => Result<ReadonlyArray<EventSummary>>

    /** Keeps a fingerprint under an id that its content determines; doing it again changes nothing. */
    readonly putFingerprint: (
      project: ProjectId,
      fingerprint: { readonly id: FingerprintId; readonly fields: JsonText; readonly createdAt: DateTime.Utc }
    ) => Result<void>
    readonly hasFingerprint: (project: ProjectId, id: FingerprintId) => Result<boolean>

    /** Creates and numbers, or answers what is there, unchanged. */
    readonly putAgent: (project: ProjectId, agent: Omit<Agent, "number">) => Result<Agent>
    readonly getAgent: (project: ProjectId, name: AgentName) => Result<Agent, AgentNotFound>
    /** Creates and numbers, or answers what is there, unchanged. */
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

    /** Creates, or answers who is there, unchanged. */
    readonly putPerson: (project: ProjectId, person: Person) => Result<Person>
    readonly getPerson: (project: ProjectId, id: PersonId) => Result<Person, PersonNotFound>
    /** Replaces all properties. */
    readonly updatePerson: (project: ProjectId, id: PersonId, properties: JsonText) => Result<Person, PersonNotFound>

    /** `hash` is the SHA-256 of the key. The project is created if it does not exist. */
    readonly putApiKey: (key: ApiKey, hash: Uint8Array) => Result<void>
    readonly findApiKey: (hash: Uint8Array) => Result<ApiKey | undefined>
    /** Of all projects, oldest first. */
    readonly listApiKeys: Result<ReadonlyArray<ApiKey>>
    /** Answers the key as it is now, its first revocation kept; undefined if there is none of that id. */
    readonly revokeApiKey: (id: string, at: DateTime.Utc) => Result<ApiKey | undefined>

    /** Succeeds when the storage answers. */
    readonly ping: Result<void>
  }
>()("tachograph/core/Storage") {}

export interface AppendEvent {
  readonly project: ProjectId
  readonly summary: EventSummary
  /** What `payload/Pack` made of the payload. */
  readonly pack: Uint8Array
}

export interface StoredEvent {
  readonly summary: EventSummary
  readonly pack: Uint8Array
}

export interface EventQuery {
  readonly session?: SessionId | undefined
  readonly agent?: AgentName | undefined
  readonly agentVersion?: AgentVersionName | undefined
  readonly person?: PersonId | undefined
  readonly order: "asc" | "desc"
  /** Starts behind this id, in the query's order. */
  readonly after?: EventId | undefined
  /** At least 1. */
  readonly limit: number
}
