/**
 * The port to a database. Each operation is atomic: its changes are complete and durable when its effect succeeds, and none
 * of them is made when it fails. Payloads are opaque bytes here.
 *
 * Projects are isolated from each other. A `Name` is well-formed Unicode without U+0000; a description may contain any
 * string that JSON can represent.
 */
import { Context, Data, type DateTime, type Effect, type Layer, Schema } from "effect"
import type { Agent, AgentName } from "./domain/Agent.ts"
import type { AgentVersion, AgentVersionName } from "./domain/AgentVersion.ts"
import type { ApiKey } from "./domain/ApiKey.ts"
import type {
  AgentNotFound,
  AgentVersionNotFound,
  EventNotFound,
  FingerprintNotFound,
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
import type { CountedSession, ProjectAccount, SessionAccount } from "./domain/StorageAccount.ts"
import type { StorageUsage } from "./domain/StorageUsage.ts"
import type { SessionPlace, SessionQuery, StoredSession } from "./rollup/SessionQuery.ts"
import type { UsagePage, UsageQuery } from "./rollup/UsageQuery.ts"
import type { EventChecksums } from "./domain/EventChecksums.ts"
import type { StoredPack } from "./payload/format/Pack.ts"
import type { PackRanges } from "./payload/format/PackRanges.ts"
import type { SharedPiece } from "./payload/format/SharedPiece.ts"
import type { Change, SweepPack } from "./payload/Sweep.ts"

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

    /**
     * Deletes at most `limit` events, oldest first, and marks their sessions as pending sweep. Their payloads stay in the
     * packs until the sessions are swept.
     */
    readonly eraseEvents: (project: ProjectId, which: Erasable, limit: number) => Result<ErasedEvents>
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
     * Sessions in the order of their last events. Looks at about 10,000 of them at most: then the page has fewer than `limit`, or none,
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

    /** Creates and numbers it, or returns the existing one unchanged. */
    readonly putAgent: (project: ProjectId, agent: Omit<Agent, "number">) => Result<Agent>
    readonly getAgent: (project: ProjectId, name: AgentName) => Result<Agent, AgentNotFound>
    /** In the order of their numbers, like all lists with numbers. */
    readonly listAgents: (project: ProjectId, query: ListQuery<number>) => Result<ListPage<Agent, number>>
    /** Creates and numbers it, or returns the existing one unchanged. */
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

    /** Creates the person, or returns the existing one unchanged. */
    readonly putPerson: (project: ProjectId, person: Person) => Result<Person>
    readonly getPerson: (project: ProjectId, id: PersonId) => Result<Person, PersonNotFound>
    readonly listPeople: (project: ProjectId, query: ListQuery<number>) => Result<ListPage<Person, number>>
    /** Replaces all properties. */
    readonly updatePerson: (project: ProjectId, id: PersonId, properties: JsonText) => Result<Person, PersonNotFound>

    /** `hash` is the SHA-256 of the key. The project is created if it does not exist. */
    readonly putApiKey: (key: ApiKey, hash: Uint8Array) => Result<void>
    readonly findApiKey: (hash: Uint8Array) => Result<ApiKey | undefined>
    /** The keys of all projects, oldest first. */
    readonly listApiKeys: Result<ReadonlyArray<ApiKey>>
    /** Returns the updated key, or undefined if the id is unknown. A second revocation keeps the time of the first. */
    readonly revokeApiKey: (id: string, at: DateTime.Utc) => Result<ApiKey | undefined>

    /** How many calls of `appendEvents` to run concurrently for the best throughput. */
    readonly appendConcurrency: number
    /** The lane of a session's events. One call of `appendEvents` with events of one lane costs less than with events of several. */
    readonly laneOf: (session: SessionId) => number
    /** Succeeds if the storage responds. */
    readonly ping: Result<void>
  }
>()("tachograph/core/Storage") {}

/** The state of a session that new packs build on. Session numbers are never reused within a project. */
export interface SessionState {
  readonly number: number
  /** Incremented whenever a sweep changes the session's packs. */
  readonly generation: number
  /** The number of the last pack. Packs are numbered from 1. */
  readonly packs: number
  /** The highest piece numbers in use, in the history and among the parts. */
  readonly history: number
  readonly parts: number
}

export interface AppendEvent {
  readonly project: ProjectId
  readonly summary: EventSummary
  readonly checksums: EventChecksums
  /** By which its facts and its cost were computed: at most 255 characters. */
  readonly rules: string
  /** None if undefined. */
  readonly metadata?: JsonText | null | undefined
  readonly pack: NewPack
  readonly idempotency?: Idempotency | undefined
  /** Whether its id was given for this call, and not before, as that of an event which is imported. */
  readonly hasNewId?: boolean | undefined
}

/** A pack, and the session state that it was written against. */
export interface NewPack {
  /** Undefined if the session did not exist when the pack was written. */
  readonly session: Pick<SessionState, "number" | "generation"> | undefined
  /** One more than the session's last pack. */
  readonly number: number
  readonly bytes: Uint8Array
  /** How many pieces the pack adds to the history and to the parts. */
  readonly history: number
  readonly parts: number
  /** Size of its content in bytes, uncompressed. */
  readonly newBytes: number
  /** The shared pieces that it references. Missing ones are stored; the session owns all of them from now on. */
  readonly shared: ReadonlyArray<SharedPiece>
}

/** The sessions whose state differs from the one their packs were written against. Nothing was appended. */
export class SessionConflict extends Schema.TaggedError<SessionConflict>()("session-conflict", {
  sessions: Schema.Array(Schema.Struct({ project: Schema.String, session: Schema.String }))
}) {}

/** An idempotency key in use in a session: the event stored under it, and the hash of that event's body. */
export interface TakenKey {
  readonly project: ProjectId
  readonly session: SessionId
  readonly idempotency: Idempotency
  readonly id: EventId
  readonly receivedAt: DateTime.Utc
}

/** Events exist under some of the idempotency keys. Nothing was appended. */
export class KeyConflict extends Data.TaggedError("key-conflict")<{ readonly taken: ReadonlyArray<TakenKey> }> {}

/** The ids of new events are too old, or not above those of other events. Nothing was appended. */
export class StaleIds extends Data.TaggedError("stale-ids")<{
  /** The time from which new ids would be accepted now, in epoch milliseconds. */
  readonly notBefore: number
}> {}

export interface StoredSummary {
  /** The id as it is stored, even if nothing else can be read. */
  readonly id: EventId
  /** Undefined if its fields are not what an event may have. Not compared with the checksum. */
  readonly summary: EventSummary | undefined
  readonly checksums: EventChecksums
  /** By which its facts and its cost were computed. Undefined if that is damaged. */
  readonly rules: string | undefined
}

/** New facts of a stored event. */
export interface FactsChange {
  /** The checksum of the fields as they are stored. */
  readonly was: number
  /** With the new facts, and otherwise as it is stored. */
  readonly summary: EventSummary
  /** The checksum of the new fields. */
  readonly checksum: number
}

export interface RulesInUse {
  readonly rules: string
  readonly events: number
}

export interface StoredEvent extends StoredSummary {
  /** The session's number. */
  readonly session: number
  readonly metadata: JsonText | null
  /** The pack that was written for the event. Its bytes are undefined if it is missing, or larger than was asked for. */
  readonly pack: { readonly number: number; readonly bytes: Uint8Array | undefined }
}

export type Erasable =
  | { readonly person: PersonId }
  | { readonly session: SessionId }
  /** Events whose ids are less than this one. */
  | { readonly before: EventId }

export interface ErasedEvents {
  readonly events: number
  /** The numbers of their sessions if damage keeps these from being marked: they must be swept, but are not listed. */
  readonly unmarked?: ReadonlyArray<number>
}

export interface SweepRequest {
  /** The highest number of the packs to rewrite. */
  readonly to: number
  /**
   * How many packs to read at most, downwards from `to`. Fewer are read if they are large, but at least one. A storage that
   * has read them takes `lastWithinStep`, which bounds what they unpack to.
   */
  readonly limit: number
  /** Packs above this number are also read, as `added`. */
  readonly above: number
  /** What the first step of the sweep got as `SweepPacks.named`. Undefined for the first step. */
  readonly named?: ReadonlySet<number> | undefined
}

export interface SweepPacks {
  readonly state: SessionState
  /** A counter of deletions that never repeats a value. Greater than 0 while the session is pending sweep. */
  readonly pendingSweep: number
  /** The packs at and below `SweepRequest.to`, in ascending order. */
  readonly packs: ReadonlyArray<SweepPack>
  /** Whether `packs` includes the session's first pack. */
  readonly isLast: boolean
  /**
   * The packs that events named at the first step. They are kept even if damage has marked them as erased. Events that are deleted
   * after it leave the session pending for another sweep. Undefined if the storage cannot be damaged.
   */
  readonly named?: ReadonlySet<number> | undefined
  /** The packs above `SweepRequest.above`, in ascending order. */
  readonly added: ReadonlyArray<SweepPack>
}

export interface SweepChanges<A> {
  readonly packs: ReadonlyArray<Change>
  /** How many pieces are erased with these changes. */
  readonly pieces: number
  /**
   * Set by the last step. The session then owns only the shared pieces with these names, and is deleted if it has no events.
   * It stays pending sweep if its counter differs from `pendingSweep`: events were deleted since the sweep began.
   * `remaining` is the number of pieces that its packs have left.
   */
  readonly done:
    | { readonly owned: ReadonlyArray<Uint8Array>; readonly pendingSweep: number; readonly remaining: number }
    | undefined
  readonly value: A
}

/** What the last step of a sweep deleted, or a step of the deletion of a session. */
export interface ErasedAtLast {
  /** Shared pieces that no session owns any more. For a deleted session also those of its packs. */
  readonly pieces: number
  /** The stored bytes of the shared pieces and packs. */
  readonly bytes: number
  /** Whether the session was deleted. */
  readonly session: boolean
}

export interface NextSession {
  readonly number: number
  /** Undefined if it does not exist. */
  readonly id: SessionId | undefined
}

export interface EventPack {
  readonly id: EventId
  /** The session's number. */
  readonly session: number
  /** The number of the event's pack. */
  readonly pack: number
  /** Undefined if it is damaged. */
  readonly api: EventSummary["api"] | undefined
  /** In epoch milliseconds: a search passes a million events, for which `DateTime`s would take time. */
  readonly receivedAtMs: number
  readonly occurredAtMs: number | undefined
}

/** Packs of a session. Both ends are inclusive. No two ranges of a session overlap. */
export interface SessionRange {
  readonly session: number
  readonly from: number
  readonly to: number
}

export interface RangedPack {
  readonly session: number
  readonly number: number
  readonly bytes: Uint8Array | undefined
  /** Whether the pack's event still exists. */
  readonly isKept: boolean
  /** Whether events were ever erased from the session. */
  readonly isOfErased: boolean
}

export interface SessionEvent {
  readonly id: EventId
  /** The number of its agent. */
  readonly agent: number
}

export interface PackPage {
  /** Undefined if the session does not exist. */
  readonly state: (SessionState & Pick<CountedSession, "pendingSweep">) | undefined
  readonly packs: ReadonlyArray<ListedPack>
  /** Whether these are the last packs. */
  readonly isLast: boolean
}

export interface ListedPack extends SweepPack {
  /** The number of the agent whose event wrote it. */
  readonly agent: number
}

export interface ListedShared {
  readonly sha256: Uint8Array
  readonly bytes: Uint8Array
  /** The size of its text, as it is stored beside it. */
  readonly size: number
  /** Whether any session owns it. */
  readonly isOwned: boolean
  /** As it is stored beside it. */
  readonly checksum: number
}

export interface TableCheck {
  readonly table: string
  /** What is wrong with it: clauses without a full stop, which contain nothing of any row. */
  readonly damage: ReadonlyArray<string>
}

export interface StoredFingerprint {
  readonly id: FingerprintId
  /** As `Fingerprint.toText` writes it. */
  readonly fields: JsonText
  readonly createdAt: DateTime.Utc
}

/** A page of a list whose rows have keys in ascending order. */
export interface ListQuery<Key> {
  /** Starts after this key. */
  readonly after: Key | undefined
  /** At least 1. */
  readonly limit: number
  /** The bytes of free text that the rows have at most in total; a page has one row at least, if there are any. */
  readonly maxBytes: number
}

export interface ListPage<Row, Key> {
  readonly rows: ReadonlyArray<Row>
  /** The key after which the next page starts; undefined on the last page. */
  readonly next: Key | undefined
}

type EqualField = "api" | "fingerprintId" | "traceId" | "stopReason" | "providerStopReason"

/** Fields of the events themselves by which a list can be filtered. All that are given must match. */
export type FieldFilter = {
  readonly [Field in EqualField]?: NonNullable<EventSummary[Field]> | undefined
} & {
  /** The model that was asked for, or the one that answered. */
  readonly model?: string | undefined
  /** Whether the output is an error. */
  readonly isError?: boolean | undefined
}

/** A shared piece as a storage keeps it. */
export interface StoredShared {
  readonly sha256: Uint8Array
  readonly bytes: Uint8Array
  /** Whether nothing else uses the memory of `bytes`, so that a reader may free it. */
  readonly isOwned?: boolean
}

export interface EventQuery {
  readonly session?: SessionId | undefined
  readonly agent?: AgentName | undefined
  readonly agentVersion?: AgentVersionName | undefined
  readonly person?: PersonId | undefined
  readonly order: "asc" | "desc"
  /** Starts after this id, in the query's order. */
  readonly after?: EventId | undefined
  /** Only ids that are greater than this one. */
  readonly above?: EventId | undefined
  /** Only ids that are less than this one. */
  readonly below?: EventId | undefined
  /** At least 1. */
  readonly limit: number
}

/**
 * How a storage is opened on another thread: what the module at `url` exports as `name` is called there with `args`, and
 * returns a layer of the storage. The arguments are cloned as `postMessage` does.
 */
export interface StorageModule {
  readonly url: string
  readonly name: string
  /**
   * What the module exports under this name is called with the same arguments on a thread for long reads, and returns a layer
   * for what only reads. Undefined if all that reads is on the thread that writes.
   */
  readonly reading?: string | undefined
  readonly args: ReadonlyArray<unknown>
}

const modules = new WeakMap<object, StorageModule>()

/** Says how the storage of a layer is opened on another thread. A layer that is made of it does not know. */
export const inModule = <A extends Layer.Layer<Storage, unknown>>(layer: A, module: StorageModule): A => {
  modules.set(layer, module)
  return layer
}

/** Undefined if the storage can only be opened on this thread. */
export const moduleOf = (layer: object): StorageModule | undefined => modules.get(layer)
