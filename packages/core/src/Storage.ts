/**
 * The port to a database. A storage speaks the domain's verbs, each of them atomic: it has happened whole and is durable
 * when its effect succeeds, and has left no trace when it fails. Payloads are bytes here, and stay the bytes they are.
 *
 * Nothing is visible across projects. Text may be any well-formed Unicode without U+0000 where the domain says `Name`;
 * descriptions may hold anything that JSON can.
 */
import { Context, Data, type DateTime, type Effect, Schema } from "effect"
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
import type { Idempotency } from "./domain/IdempotencyKey.ts"
import type { JsonText } from "./domain/JsonText.ts"
import type { Person, PersonId } from "./domain/Person.ts"
import type { ProjectId } from "./domain/Project.ts"
import type { SessionId } from "./domain/Session.ts"
import type { StorageUsage } from "./domain/StorageUsage.ts"
import type { StoredPack } from "./payload/format/Pack.ts"
import type { PackRanges } from "./payload/format/PackRanges.ts"
import type { SharedPiece } from "./payload/format/SharedPiece.ts"
import type { Change, SweepPack } from "./payload/Sweep.ts"

type Result<A, E = never> = Effect.Effect<A, E | StorageUnavailable>

export class Storage extends Context.Service<
  Storage,
  {
    /**
     * Appends all or none, payloads of one session in their order. Agents, versions, people and sessions that do not exist
     * are created with the defaults of the interface; agents are numbered from 1 within the project, versions within their
     * agent, in any concurrency without gaps. An id that is there already is a defect of the caller's: the effect dies.
     *
     * Fails with `SessionConflict` where a session is not as the packs were written for: somebody else has appended to it, or
     * erased something. Then nothing is appended, and the packs must be written anew.
     *
     * Fails with `KeyConflict` where events were appended under the same idempotency keys, by a transaction that is waited for
     * if it has not ended yet. Then nothing is appended either. No two events of one call have the same key.
     *
     * Answers the number of each event's session. A new session is of generation 0.
     */
    readonly appendEvents: (
      events: ReadonlyArray<AppendEvent>
    ) => Result<ReadonlyArray<number>, SessionConflict | KeyConflict>
    readonly getEvent: (project: ProjectId, id: EventId) => Result<StoredEvent, EventNotFound>
    /** In the order of ids, and so of time. */
    readonly listEvents: (project: ProjectId, query: EventQuery) => Result<ReadonlyArray<EventSummary>>

    readonly getSession: (project: ProjectId, session: SessionId) => Result<SessionState | undefined>
    /**
     * Those packs of a session that there are, in ascending order and as they are at one moment. Of more than `newestBytes`
     * together, where that is given, the newest.
     */
    readonly readPacks: (
      project: ProjectId,
      session: number,
      ranges: PackRanges,
      newestBytes?: number
    ) => Result<ReadonlyArray<StoredPack>>
    /**
     * Those shared pieces that there are, by their SHA-256. Where `mostBytes` is given, no more of them, in the order of the
     * names, than have so many bytes of text together.
     */
    readonly readShared: (
      project: ProjectId,
      names: ReadonlyArray<Uint8Array>,
      mostBytes?: number
    ) => Result<ReadonlyArray<{ readonly sha256: Uint8Array; readonly bytes: Uint8Array }>>

    /**
     * Takes events away, the oldest first, and marks their sessions as pendingSweep: what stood in them stays until the sessions
     * are swept.
     */
    readonly eraseEvents: (project: ProjectId, which: Erasable, limit: number) => Result<ErasedEvents>
    /** Sessions out of which events were taken, and that were not swept since. By number. */
    readonly listPendingSweep: (project: ProjectId, limit: number) => Result<ReadonlyArray<number>>
    /**
     * One step of sweeping a session, during which nobody appends to it. Reads packs and hands them to `rewrite`, does what
     * it answers, and raises the session's generation if that changes anything. Undefined if there is no such session.
     * `rewrite` may be called again where a transaction is tried again, and must not remember the time before.
     */
    readonly sweepPacks: <A>(
      project: ProjectId,
      session: number,
      request: SweepRequest,
      rewrite: (packs: SweepPacks) => SweepChanges<A>
    ) => Result<{ readonly value: A; readonly erased: ErasedAtLast } | undefined>
    /** Takes a person away of whom no event is left; answers false if there is one. */
    readonly deletePerson: (project: ProjectId, id: PersonId) => Result<boolean, PersonNotFound>
    /** Overwrites what was freed, where the storage can: see its documentation for what remains. */
    readonly scrub: Result<void>
    /** Takes or prolongs a lease, until the time given; false while another holder has it. */
    readonly takeLease: (name: string, holder: string, until: DateTime.Utc) => Result<boolean>
    readonly listProjects: Result<ReadonlyArray<ProjectId>>

    /** From counters that are kept as events come and go. `sessions` is how many of the largest are told one by one. */
    readonly usage: (project: ProjectId, sessions: number) => Result<StorageUsage>

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

    /** Batches of events that are worth appending at the same time. */
    readonly appendConcurrency: number
    /** Succeeds when the storage answers. */
    readonly ping: Result<void>
  }
>()("tachograph/core/Storage") {}

/** A session as packs are written for it. Numbers are never used twice in a project. */
export interface SessionState {
  readonly number: number
  /** Changes whenever something is taken out of a session. */
  readonly generation: number
  /** The number of its last pack; packs are numbered from 1. */
  readonly packs: number
  /** The last numbers of its pieces, in the history and among the parts. */
  readonly history: number
  readonly parts: number
}

export interface AppendEvent {
  readonly project: ProjectId
  readonly summary: EventSummary
  readonly pack: NewPack
  readonly idempotency?: Idempotency | undefined
}

/** A pack, and what the session must be for it to be right. */
export interface NewPack {
  /** Undefined: there is no such session yet, or nothing in it. */
  readonly session: Pick<SessionState, "number" | "generation"> | undefined
  /** Follows that of the session's last pack. */
  readonly number: number
  readonly bytes: Uint8Array
  /** Pieces that it adds. */
  readonly history: number
  readonly parts: number
  /** Bytes of what is new in it, uncompressed. */
  readonly newBytes: number
  /** What it names; kept if it is not there, and owned by the session from now on. */
  readonly shared: ReadonlyArray<SharedPiece>
}

/** Sessions that are not as they were believed to be: nothing was appended. */
export class SessionConflict extends Schema.TaggedError<SessionConflict>()("session-conflict", {
  sessions: Schema.Array(Schema.Struct({ project: Schema.String, session: Schema.String }))
}) {}

/** A key under which there is an event, and what that was sent with. */
export interface TakenKey {
  readonly project: ProjectId
  readonly idempotency: Idempotency
  readonly id: EventId
  readonly receivedAt: DateTime.Utc
}

/** Some of the events are there already, or others under their keys: nothing was appended. */
export class KeyConflict extends Data.TaggedError("key-conflict")<{ readonly taken: ReadonlyArray<TakenKey> }> {}

export interface StoredEvent {
  readonly summary: EventSummary
  /** The session's number, and the pack that the event came with. */
  readonly session: number
  readonly pack: StoredPack
}

export type Erasable =
  | { readonly person: PersonId }
  | { readonly session: SessionId }
  /** Events whose ids are older. */
  | { readonly before: EventId }

export interface ErasedEvents {
  readonly events: number
}

export interface SweepRequest {
  /** The highest number of the packs that may be rewritten now. */
  readonly to: number
  /** So many of them are read at most, downwards; fewer where they are large, but at least one. */
  readonly limit: number
  /** Packs above this number are read too. */
  readonly above: number
}

export interface SweepPacks {
  readonly state: SessionState
  /** Changes whenever events are taken out, and is never the same twice; above 0 while the session is pendingSweep. */
  readonly pendingSweep: number
  /** From the highest number that was asked for downwards; ascending. */
  readonly packs: ReadonlyArray<SweepPack>
  /** There are none below them. */
  readonly isLast: boolean
  /** Above the number that was asked for; ascending. */
  readonly added: ReadonlyArray<SweepPack>
}

export interface SweepChanges<A> {
  readonly packs: ReadonlyArray<Change>
  /**
   * The session is swept of all that was taken out until `pendingSweep` was this: it owns the shared pieces of these names and no
   * others, and goes if it has no events. Where more was taken out since, it stays pendingSweep.
   */
  readonly done: { readonly owned: ReadonlyArray<Uint8Array>; readonly pendingSweep: number } | undefined
  readonly value: A
}

/** What went at the end of a sweep. */
export interface ErasedAtLast {
  /** Shared pieces that nobody owned any more, and their bytes as stored. */
  readonly pieces: number
  readonly bytes: number
  /** The session went, too. */
  readonly session: boolean
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
