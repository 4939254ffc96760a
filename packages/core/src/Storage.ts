/**
 * The port to a database. Each operation is atomic: its changes are complete and durable when its effect succeeds, and none
 * of them is made when it fails. Payloads are opaque bytes here.
 *
 * Projects are isolated from each other. A `Name` is well-formed Unicode without U+0000; a description may contain any
 * string that JSON can represent.
 */
import * as Context from "effect/Context"
import type * as DateTime from "effect/DateTime"
import type * as Effect from "effect/Effect"
import type { Agent, AgentName } from "./domain/Agent.ts"
import type { AgentVersion, AgentVersionName } from "./domain/AgentVersion.ts"
import type { ApiKey } from "./domain/ApiKey.ts"
import type { StoredAudit } from "./domain/AuditEntry.ts"
import type {
  AgentNotFound,
  AgentVersionNotFound,
  EventNotFound,
  FingerprintNotFound,
  PersonNotFound,
  StorageUnavailable
} from "./domain/Errors.ts"
import type { EventId } from "./domain/Event.ts"
import type { FingerprintId } from "./domain/Fingerprint.ts"
import type { JsonText } from "./domain/JsonText.ts"
import type { Person, PersonId } from "./domain/Person.ts"
import type { ProjectId } from "./domain/Project.ts"
import type { SessionId } from "./domain/Session.ts"
import type { ProjectAccount, SessionAccount } from "./domain/StorageAccount.ts"
import type { StorageUsage } from "./domain/StorageUsage.ts"
import type { StoredPack } from "./payload/format/Pack.ts"
import type { PackRanges } from "./payload/format/PackRanges.ts"
import type { SessionPlace, SessionQuery, StoredSession } from "./rollup/SessionQuery.ts"
import type { UsagePage, UsageQuery } from "./rollup/UsageQuery.ts"
import type { AppendEvent, KeyConflict, SessionConflict, SessionState, StaleIds } from "./storage/Appending.ts"
import type { Erasable, ErasedAtLast, ErasedEvents, SweepChanges, SweepPacks, SweepRequest } from "./storage/Erasing.ts"
import type {
  DerivedCheck,
  DerivedPlace,
  ListedShared,
  NextSession,
  PackPage,
  SessionEvent,
  TableCheck
} from "./storage/Inventory.ts"
import type { AuditQuery, EventQuery, FieldFilter, ListPage, ListQuery } from "./storage/Lists.ts"
import type {
  EventPack,
  FactsChange,
  RangedPack,
  RulesInUse,
  SessionRange,
  StoredEvent,
  StoredFingerprint,
  StoredShared,
  StoredSummary
} from "./storage/Stored.ts"

type Result<A, E = never> = Effect.Effect<A, E | StorageUnavailable>

export class Storage extends Context.Service<
  Storage,
  {
    /**
     * Appends all events or none; the events of one session are given in the order of their packs. Creates missing agents,
     * versions, people and sessions with the defaults of the interface. Agents are numbered from 1 within the project and
     * versions within their agent, without gaps, also under concurrent appends. Dies if an event id exists already.
     *
     * Fails with `SessionConflict` if another writer has appended to a session, or erased from it, since its packs were
     * written. Nothing is appended; the caller writes the packs again from the current state.
     *
     * Fails with `KeyConflict` if events of the same sessions exist under the same idempotency keys. A concurrent transaction
     * that has inserted one of the keys is waited for. Nothing is appended. No two events of one session in a call may have
     * the same key.
     *
     * Fails with `StaleIds` if an event `hasNewId` that may not be above every watermark that was returned. Nothing is appended;
     * the caller gives all of them new ids.
     *
     * Returns the session number of each event. A new session has generation 0.
     */
    readonly appendEvents: (
      events: ReadonlyArray<AppendEvent>
    ) => Result<ReadonlyArray<number>, SessionConflict | KeyConflict | StaleIds>
    /**
     * An id such that every event of the project with this id or a lower one is visible to each read that starts now, or never
     * will be. It is that of no event, or of the newest one. Only events that were appended with ids that they had
     * before (without `hasNewId`) can appear below it later.
     *
     * It never decreases within a storage. It lags behind the newest event by as much as the storage needs to know that no
     * transaction still holds an older one, and stands still while a transaction is held.
     */
    readonly watermark: (project: ProjectId) => Result<EventId>
    /** The event, and its pack if that has at most `maxPackBytes` bytes. */
    readonly getEvent: (project: ProjectId, id: EventId, maxPackBytes?: number) => Result<StoredEvent, EventNotFound>
    /** Ordered by id, and therefore by time. */
    readonly listEvents: (project: ProjectId, query: EventQuery) => Result<ReadonlyArray<StoredSummary>>

    /**
     * The events of a list that also have these fields. Looks at about `maxLooked` events at most: then the page has fewer events
     * than `limit`, or none, and `next` says where to go on.
     */
    readonly findEvents: (
      project: ProjectId,
      query: EventQuery,
      fields: FieldFilter,
      maxLooked: number
    ) => Result<ListPage<StoredSummary, EventId>>

    /** Where the packs of the events of a list are: as `findEvents`, with few fields of the events. */
    readonly findPacks: (
      project: ProjectId,
      query: EventQuery,
      fields: FieldFilter,
      maxLooked: number
    ) => Result<ListPage<EventPack, EventId>>
    /**
     * Replaces facts and costs of events of one session, with the checksum of their fields. Leaves out events that were erased or
     * changed meanwhile, and those that are by these rules already. Returns how many it has replaced.
     */
    readonly replaceFacts: (
      project: ProjectId,
      session: number,
      rules: string,
      changes: ReadonlyArray<FactsChange>
    ) => Result<number>
    /** How many events are by which rules, from counters. */
    readonly rulesInUse: (project: ProjectId) => Result<ReadonlyArray<RulesInUse>>

    readonly getSession: (project: ProjectId, session: SessionId) => Result<SessionState | undefined>
    /**
     * The existing packs of a session in these ranges, in ascending order, from one snapshot. With `newestBytes`, only the
     * newest of them whose sizes add up to at most this many bytes.
     */
    readonly readPacks: (
      project: ProjectId,
      session: number,
      ranges: PackRanges,
      newestBytes?: number
    ) => Result<ReadonlyArray<StoredPack>>
    /**
     * The existing packs of several sessions, each once, in the order of the sessions' numbers and of their own. The bytes of a
     * pack that has more than `maxPackBytes` are undefined.
     */
    readonly readPackRanges: (
      project: ProjectId,
      ranges: ReadonlyArray<SessionRange>,
      maxPackBytes: number
    ) => Result<ReadonlyArray<RangedPack>>
    /**
     * The existing shared pieces with these names (SHA-256). With `maxBytes`, only as many of them, in the order of `names`,
     * as have at most this many bytes of text in total.
     */
    readonly readShared: (
      project: ProjectId,
      names: ReadonlyArray<Uint8Array>,
      maxBytes?: number
    ) => Result<ReadonlyArray<StoredShared>>
    /** The bytes of the text of a shared piece. Undefined if there is none with this name. */
    readonly sharedTextBytes: (project: ProjectId, name: Uint8Array) => Result<number | undefined>

    /**
     * Fails while a node of the storage has not committed its part of a transaction that others see. What was erased may still be on
     * that node.
     */
    readonly checkCommits: Result<void>
    /**
     * Deletes at most `limit` events, oldest first, and marks their sessions as pending sweep. Their payloads stay in the
     * packs until the sessions are swept. Adds the entry, if there is one, to the audit log.
     */
    readonly eraseEvents: (
      project: ProjectId,
      which: Erasable,
      limit: number,
      entry?: StoredAudit
    ) => Result<ErasedEvents>
    /** The numbers of the sessions that are pending sweep: events were deleted from them since their last sweep. */
    readonly listPendingSweep: (project: ProjectId, limit: number) => Result<ReadonlyArray<number>>
    /**
     * One step of sweeping a session, in a transaction that excludes appends to it. Reads packs, passes them to `rewrite`,
     * applies the changes that it returns, and increments the session's generation if there are any. Returns undefined if the
     * session does not exist. `rewrite` runs again when the transaction is retried, so it must not keep state between calls.
     */
    readonly sweepPacks: <A>(
      project: ProjectId,
      session: number,
      request: SweepRequest,
      rewrite: (packs: SweepPacks) => SweepChanges<A>
    ) => Result<{ readonly value: A; readonly erased: ErasedAtLast } | undefined>
    /**
     * Deletes at most `limit` packs of a session that has no events, without reading them, and with the last of them the
     * session. Returns undefined if the session does not exist or has events.
     */
    readonly deleteEmptySession: (
      project: ProjectId,
      session: number,
      limit: number
    ) => Result<ErasedAtLast | undefined>
    /** Deletes a person who has no events. Returns false if there are events. */
    readonly deletePerson: (project: ProjectId, id: PersonId) => Result<boolean, PersonNotFound>
    /** Acquires or renews a lease until the given time. Returns false while another holder has it. */
    readonly takeLease: (name: string, holder: string, until: DateTime.Utc) => Result<boolean>
    readonly listProjects: Result<ReadonlyArray<ProjectId>>

    /** Read from counters that appends and erasures maintain. `sessions` is the number of largest sessions to list. */
    readonly usage: (project: ProjectId, sessions: number) => Result<StorageUsage>

    /**
     * Sessions in the order of their last calls. Looks at about 10,000 of them at most: then the page has fewer than `limit`, or none,
     * and `next` says where to go on.
     */
    readonly listSessions: (project: ProjectId, query: SessionQuery) => Result<ListPage<StoredSession, SessionPlace>>
    /** Undefined if it does not exist, or has no events. */
    readonly sessionSummary: (project: ProjectId, session: SessionId) => Result<StoredSession | undefined>
    /** What events add up to, in groups. */
    readonly sumUsage: (project: ProjectId, query: UsageQuery) => Result<UsagePage>
    /**
     * Adds at most `limit` events to what the storage keeps to answer the three reads above, in one short transaction: those that
     * follow the last one, up to `upTo`, below which no event appears any more. Returns how many; none if another process
     * does the same. What is not added yet is read from the events themselves.
     */
    readonly deriveEvents: (project: ProjectId, upTo: EventId, limit: number) => Result<number>
    /** Forgets what `deriveEvents` has kept, so that it begins anew. */
    readonly dropDerived: (project: ProjectId) => Result<void>

    /** The session with the lowest number above `after` that any row names, whether or not the session exists. */
    readonly nextSession: (project: ProjectId, after: number) => Result<NextSession | undefined>
    /**
     * The ids of at most `limit` events of a session: in the order of the numbers of their agents, then of the ids. The ones
     * after another event, if it is given.
     */
    readonly sessionEvents: (
      project: ProjectId,
      session: number,
      after: SessionEvent | undefined,
      limit: number
    ) => Result<ReadonlyArray<SessionEvent>>
    /**
     * The packs of a session above a number, in ascending order, with the session's state, from one snapshot. As many as have
     * at most `maxBytes` in total; at least one if there are any.
     */
    readonly listPacks: (project: ProjectId, session: number, above: number, maxBytes: number) => Result<PackPage>
    /**
     * The shared pieces whose names are greater than `after`, in the order of their names, from one snapshot. As many as have
     * at most `maxBytes` of stored bytes in total; at least one if there are any.
     */
    readonly listShared: (
      project: ProjectId,
      after: Uint8Array | undefined,
      maxBytes: number
    ) => Result<ReadonlyArray<ListedShared>>
    /** What is counted of a session, beside the counters. From one snapshot; takes time in proportion to its rows. */
    readonly sessionAccount: (project: ProjectId, session: number) => Result<SessionAccount>
    /** The same of what the sessions of a project share. */
    readonly projectAccount: (project: ProjectId) => Result<ProjectAccount>
    /**
     * The database's own check of the next table, in the order of their names: that its pages and its indexes are what they should
     * be. Undefined after the last table, or if the database has no such check.
     */
    readonly checkTable: (after: string | undefined) => Result<TableCheck | undefined>
    /**
     * Compares what `deriveEvents` has kept with the events, in steps of about a day of them. Leaves out what others change all the time
     * meanwhile.
     */
    readonly checkDerived: (project: ProjectId, after: DerivedPlace | undefined) => Result<DerivedCheck>

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

    /** `hash` is the SHA-256 of the key. The project is created if it does not exist. Adds the entry to its audit log. */
    readonly putApiKey: (key: ApiKey, hash: Uint8Array, entry: StoredAudit) => Result<void>
    readonly findApiKey: (hash: Uint8Array) => Result<ApiKey | undefined>
    /** The keys of all projects, oldest first. */
    readonly listApiKeys: Result<ReadonlyArray<ApiKey>>
    /** The hashes of all keys, by their ids: for a copy of the storage. */
    readonly apiKeyHashes: Result<ReadonlyMap<string, Uint8Array>>
    /**
     * Returns the updated key, or undefined if the id is unknown. A second revocation keeps the time of the first. The first adds the entry
     * to the audit log of the key's project.
     */
    readonly revokeApiKey: (id: string, at: DateTime.Utc, entry: StoredAudit) => Result<ApiKey | undefined>

    /** Adds an entry to the audit log of a project, and deletes those that are too old beside it. */
    readonly appendAudit: (project: ProjectId, entry: StoredAudit) => Result<void>
    /** The latest first. `next` is the id of the last one of the page. */
    readonly listAudit: (project: ProjectId, query: AuditQuery) => Result<ListPage<StoredAudit, string>>

    /** How many calls of `appendEvents` to run concurrently for the best throughput. */
    readonly appendConcurrency: number
    /** The lane of a session's events. One call of `appendEvents` with events of one lane costs less than with events of several. */
    readonly laneOf: (session: SessionId) => number
    /** The node that commits the events of a lane, as far as the storage knows. */
    readonly nodeOf: (lane: number) => number
    /** How many of the concurrent calls may be for one of several nodes: one that does not answer leaves some to the others. */
    readonly nodeConcurrency: number
    /** Succeeds if the storage responds. */
    readonly ping: Result<void>
  }
>()("tachograph/core/Storage") {}
