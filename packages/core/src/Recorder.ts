/** The operations of Tachograph, independent of any transport. */
import * as Cache from "effect/Cache"
import * as Context from "effect/Context"
import type * as DateTime from "effect/DateTime"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Fiber from "effect/Fiber"
import * as Layer from "effect/Layer"
import type * as Stream from "effect/Stream"
import { defaultAgentName } from "./domain/Agent.ts"
import { defaultAgentVersionName } from "./domain/AgentVersion.ts"
import {
  type AgentNotFound,
  type AgentVersionNotFound,
  ChecksumDiffers,
  type EventDamaged,
  type EventIdInvalid,
  type EventIdTaken,
  type EventNotFound,
  FingerprintNotFound,
  type IdempotencyKeyReused,
  Overloaded,
  type PersonNotFound,
  SessionIdEmpty,
  SessionNotFound,
  type SharedTextDamaged,
  type SharedTextNotFound,
  type StorageUnavailable
} from "./domain/Errors.ts"
import { type Event, type EventId, EventSummary } from "./domain/Event.ts"
import type { FingerprintId } from "./domain/Fingerprint.ts"
import type { PersonId } from "./domain/Person.ts"
import { SessionTitles } from "./conversation/SessionTitles.ts"
import { CurrentProject, type ProjectId } from "./domain/Project.ts"
import type { SessionId } from "./domain/Session.ts"
import type { Sha256 } from "./domain/Sha256.ts"
import type { ErasureReceipt } from "./domain/ErasureReceipt.ts"
import type { SessionSummary } from "./domain/SessionSummary.ts"
import type { StorageUsage } from "./domain/StorageUsage.ts"
import * as Deriver from "./derive/Deriver.ts"
import * as Audit from "./audit/Audit.ts"
import * as AuditedErasures from "./erase/AuditedErasures.ts"
import type { AuditEntry } from "./domain/AuditEntry.ts"
import { Eraser } from "./erase/Eraser.ts"
import * as EventMatch from "./storage/EventMatch.ts"
import * as Exporter from "./export/Exporter.ts"
import * as Importer from "./export/Importer.ts"
import * as ProjectReading from "./export/ProjectReading.ts"
import * as Follower from "./follow/Follower.ts"
import type { Position } from "./follow/Position.ts"
import type { Damage } from "./payload/format/Damage.ts"
import * as DamageLog from "./read/DamageLog.ts"
import * as EventPages from "./read/EventPages.ts"
import type { EventFilterQuery, EventListQuery, Period } from "./read/EventPages.ts"
import * as EventReader from "./read/EventReader.ts"
import { CollectGarbage, LargeReads } from "./read/LargeReads.ts"
import * as SharedTextReader from "./read/SharedTextReader.ts"
import { UnpackedCache } from "./read/UnpackedCache.ts"
import type { GivenId, WrittenEvent } from "./record/CommitBatch.ts"
import { CommitLimits } from "./record/CommitLimits.ts"
import * as CommitMetrics from "./record/CommitMetrics.ts"
import type { ConfigurationPage, ConfigurationQuery } from "./conversation/Configurations.ts"
import {
  type CallQuery,
  type MessageQuery,
  type MessagePage,
  type NumberedPage,
  type SessionCall,
  SessionReader
} from "./conversation/SessionReader.ts"
import * as Prices from "./facts/Prices.ts"
import * as Pricing from "./facts/Pricing.ts"
import * as ReadFacts from "./facts/ReadFacts.ts"
import * as Rules from "./facts/Rules.ts"
import { GroupCommit } from "./record/GroupCommit.ts"
import type { NewEvent } from "./record/NewEvent.ts"
import * as Checksum from "./read/Checksum.ts"
import type { KnownPrefixes } from "./payload/scan/PieceScanner.ts"
import { AdmissionControl } from "./record/AdmissionControl.ts"
import type { SessionPlace, SessionQuery, StoredSession } from "./rollup/SessionQuery.ts"
import { orderOf, type UsagePage, type UsageQuery } from "./rollup/UsageQuery.ts"
import { StaleSessions } from "./sessions/StaleSessions.ts"
import { type SearchPage, type SearchPlace } from "./search/Search.ts"
import * as Search from "./search/Search.ts"
import * as Spans from "./telemetry/Spans.ts"
import * as Resources from "./Resources.ts"
import { Storage } from "./Storage.ts"
import type { ListPage } from "./storage/Lists.ts"
import type { RulesInUse } from "./storage/Stored.ts"
import type { Result } from "./storage/Result.ts"

/** Fingerprints that are known to exist. Every event names one, and none is ever deleted. */
const cachedFingerprints = 10_000

export interface TextQuery extends EventFilterQuery {
  /** Not empty. */
  readonly text: string
  /** Otherwise upper and lower case are alike. */
  readonly isCaseSensitive: boolean
  readonly after: SearchPlace | undefined
  /** At least 1. */
  readonly limit: number
}

export interface ExportQuery extends EventFilterQuery, Exporter.ExportRange {}

/** The period is that of the last call of each session. */
export interface SessionListQuery extends Omit<SessionQuery, "fromMs" | "toMs">, Period {}

export interface AuditListQuery extends Period {
  /** Begins after this entry, in descending order. */
  readonly after: string | undefined
  readonly limit: number
}

export interface EventPage {
  readonly events: ReadonlyArray<EventSummary>
  /** The event after which the next page starts, which may be none of this page; undefined on the last page. */
  readonly next: EventId | undefined
}

type Names = Resources.Resources & Importer.Importer

/** Every operation works in the `CurrentProject`. */
export class Recorder extends Context.Service<
  Recorder,
  Names & {
    /**
     * Succeeds when the event is committed and readable, and not before. Fails with `Overloaded` if too much waits; an event
     * that `isAdmitted` is not counted again.
     */
    readonly createEvent: (
      event: NewEvent
    ) => Result<WrittenEvent, SessionIdEmpty | FingerprintNotFound | Overloaded | IdempotencyKeyReused>
    /**
     * Records an event under the id and the time that it got where it was recorded first. `checksum` is that of its texts, unsigned.
     * Succeeds when it is committed, or was there already.
     */
    readonly importEvent: (
      event: NewEvent,
      given: GivenId,
      checksum?: number
    ) => Result<
      "imported" | "exists",
      SessionIdEmpty | FingerprintNotFound | Overloaded | EventIdTaken | EventIdInvalid | ChecksumDiffers
    >
    /** The days of the price lists by which calls get their costs. */
    readonly prices: string
    /** By which facts and costs of new events are computed. */
    readonly rules: string
    /** Reads the facts of a new event by them. */
    readonly readFacts: typeof ReadFacts.read
    /** How many events are by which rules. */
    readonly rulesInUse: Result<ReadonlyArray<RulesInUse>>
    /** Counts request bodies and queued events of this process, whichever mount they come through. */
    readonly admission: AdmissionControl
    /** How the conversations of a session are known to begin, for `EventJson.open`. */
    readonly knownPrefixesOf: (project: ProjectId, session: string) => KnownPrefixes
    /**
     * `reserve` is called with the size of the payload (bytes) before it is read. If it succeeds with false, the read fails with
     * `Overloaded`.
     */
    readonly getEvent: (
      id: EventId,
      reserve?: (payloadBytes: number) => Effect.Effect<boolean>
    ) => Result<Event, EventNotFound | EventDamaged | Overloaded>
    /** A long text that events of the project share, as it was sent. `reserve` as of `getEvent`. */
    readonly getSharedText: (
      name: Sha256,
      reserve?: (bytes: number) => Effect.Effect<boolean>
    ) => Result<Buffer, SharedTextNotFound | SharedTextDamaged | Overloaded>
    /** Fails with `EventDamaged` if the fields of an event are damaged. The page after it can be read. */
    readonly listEvents: (query: EventListQuery) => Result<EventPage, EventDamaged>
    /** What an agent version ran with, by its latest calls first. Pages may have the same configuration, whose sums add up. */
    readonly listConfigurations: (
      query: Omit<ConfigurationQuery, "fromMs" | "toMs"> & Period
    ) => Result<ConfigurationPage, AgentNotFound | AgentVersionNotFound | EventDamaged>
    /** The messages of a session, each once, in the order in which they were carried first. */
    readonly listMessages: (
      session: SessionId,
      query: MessageQuery
    ) => Result<MessagePage, SessionNotFound | Overloaded>
    /**
     * The calls of a session, in the order in which they were recorded. With `afterEvent` those after this one, which the session
     * must have.
     */
    readonly listCalls: (
      session: SessionId,
      query: CallQuery
    ) => Result<NumberedPage<SessionCall>, SessionNotFound | EventNotFound | EventDamaged>
    /**
     * Texts of the events that a filter finds, the newest first. A page may have fewer results than `limit`, or none, although there
     * are more: it ends when enough was looked at.
     */
    readonly search: (query: TextQuery) => Result<SearchPage>

    /**
     * All that the project has, or the events that a filter finds with what they name, in groups. `reserve` counts what a large event
     * takes of the memory of the process.
     */
    readonly exportEvents: (
      query: ExportQuery,
      reserve?: Exporter.Reserve
    ) => Result<Stream.Stream<ReadonlyArray<Exporter.ExportItem>, StorageUnavailable | Overloaded>>
    /** Where to begin to follow the events that a filter finds, from now on. */
    readonly startFollowing: (query: EventFilterQuery) => Result<Position>
    /**
     * The events after a position that became visible, each once, whichever process recorded it. Waits until there are some, for
     * at most `maxWaitMs`. Fails with `Overloaded` if too many wait. Leaves out events whose fields are damaged.
     */
    readonly awaitEvents: (
      query: EventFilterQuery,
      from: Position,
      maxWaitMs: number
    ) => Result<Follower.FollowedEvents, Overloaded>
    /** The same for some minutes; no events now and then. While the storage is out of reach it waits. */
    readonly followEvents: (
      query: EventFilterQuery,
      from: Position
    ) => Effect.Effect<Stream.Stream<Follower.FollowedEvents>>
    /** Who erased what, and keys, the latest first. */
    readonly listAudit: (query: AuditListQuery) => Result<ListPage<AuditEntry, string>>
    /** Erases the person and all their events. After an interruption, run it again to complete it. */
    readonly erasePerson: (id: PersonId) => Result<ErasureReceipt, PersonNotFound>
    /** Erases a session and its events. */
    readonly eraseSession: (session: SessionId) => Result<ErasureReceipt, SessionNotFound>
    /** Sessions in the order of their last calls, with what their calls add up to. */
    readonly listSessions: (query: SessionListQuery) => Result<ListPage<SessionSummary, SessionPlace>>
    readonly getSession: (session: SessionId) => Result<SessionSummary, SessionNotFound>
    /** What events add up to, in groups. */
    readonly sumUsage: (query: Omit<UsageQuery, "fromMs" | "toMs"> & Period) => Result<UsagePage>
    /** What payloads take as sent and as stored. `sessions` is how many of the largest sessions are listed. */
    readonly storageUsage: (sessions: number) => Result<StorageUsage>
  }
>()("tachograph/core/Recorder") {
  static readonly layerNoDeps: Layer.Layer<Recorder, never, Storage | GroupCommit | Eraser | StaleSessions> =
    Layer.effect(
      Recorder,
      Effect.suspend(() => make)
    )

  static readonly layer: Layer.Layer<Recorder, never, Storage> = Layer.merge(this.layerNoDeps, Deriver.layer).pipe(
    Layer.provide([GroupCommit.layer, Eraser.layer, StaleSessions.layer])
  )
}

const make = Effect.gen(function* () {
  const storage = yield* Storage
  const groupCommit = yield* GroupCommit
  const eraser = yield* Eraser
  const staleSessions = yield* StaleSessions

  const knownFingerprints = yield* Cache.makeWith(
    (key: string) => {
      const { id, project } = JSON.parse(key) as { project: ProjectId; id: FingerprintId }
      return storage.hasFingerprint(project, id)
    },
    {
      capacity: cachedFingerprints,
      timeToLive: (exit) => (Exit.isSuccess(exit) && exit.value ? Duration.infinity : Duration.zero)
    }
  )

  const pricing = yield* Pricing.make
  const deriveBefore = yield* Deriver.beforeReads
  const { read: readFacts } = yield* Rules.Rules
  const admission = new AdmissionControl(yield* CommitLimits, groupCommit.isSaturated)
  yield* CommitMetrics.showAdmission(admission)
  const logDamage = DamageLog.make()
  const sessionTitles = new SessionTitles(storage, logDamage)
  const largeReads = new LargeReads(yield* CollectGarbage)
  const unpacked = new UnpackedCache()

  /** Counts an event that no mount has counted. Interrupting the caller leaves it counted until it is committed. */
  const admitted = Effect.fnUntraced(function* <A, E>(bytes: number, append: Effect.Effect<A, E>) {
    const permit = admission.permit()
    if (!permit.reserve(bytes) || !permit.enqueue()) {
      permit.release()
      return yield* new Overloaded()
    }
    return yield* Fiber.join(yield* Effect.forkDetach(Effect.ensuring(append, Effect.sync(permit.release))))
  })

  /** What the commit needs of an event. Fails if it names what must exist and does not. */
  const prepare = Effect.fnUntraced(function* (event: NewEvent, given?: GivenId) {
    const project = yield* CurrentProject
    const { fingerprintId, session } = event
    if (session === "") return yield* new SessionIdEmpty()
    const known = yield* Cache.get(knownFingerprints, JSON.stringify({ project, id: fingerprintId }))
    if (!known) return yield* new FingerprintNotFound()

    const { prices, rules } = yield* pricing
    const { arrivedAtMs, idempotency, metadata = null, payload } = event
    const { inputs, output, text } = payload
    const texts = Checksum.ofTexts(
      text.subarray(inputs.start, inputs.end),
      text.subarray(output.start, output.end),
      metadata
    )
    const withId = (id: EventId, receivedAt: DateTime.Utc) => {
      const cost = ReadFacts.costOf(prices, event.facts, event.occurredAt ?? receivedAt)
      const summary = summaryOf(id, receivedAt, event, cost)
      return { summary, checksums: { summary: Checksum.ofSummary(project, summary), texts }, rules }
    }
    return { project, session, withId, given, payload, metadata, idempotency, arrivedAtMs }
  })

  const createEvent = Effect.fnUntraced(function* (event: NewEvent) {
    const append = groupCommit.append(yield* prepare(event))
    return yield* event.isAdmitted === true ? append : admitted(event.payload.text.length, append)
  }, Spans.spanIfTraced("Recorder.createEvent"))

  const importEvent = Effect.fnUntraced(function* (event: NewEvent, given: GivenId, checksum?: number) {
    yield* Importer.checkId(given.id, event.session)
    const pending = yield* prepare(event, given)
    const own = pending.withId(given.id, given.receivedAt)
    if (checksum !== undefined && checksum !== own.checksums.texts >>> 0) return yield* new ChecksumDiffers()
    const compared = storage.getEvent(pending.project, given.id, 0).pipe(
      Effect.flatMap((stored) => Importer.compare(stored, own)),
      Effect.catchTag("event-not-found", () => Effect.undefined)
    )
    const existing = yield* compared
    if (existing !== undefined) return existing
    return yield* admitted(event.payload.text.length, groupCommit.append(pending)).pipe(
      Effect.as("imported" as const),
      Effect.catchTag("idempotency-key-reused", (error) => Effect.die(error)),
      // Another import has stored it meanwhile.
      Effect.catchDefect((defect) =>
        Effect.flatMap(compared, (existing) => (existing === undefined ? Effect.die(defect) : Effect.succeed(existing)))
      )
    )
  }, Spans.spanIfTraced("Recorder.importEvent"))

  const getEvent = Effect.fn("Recorder.getEvent")(function* (
    id: EventId,
    reserve?: (payloadBytes: number) => Effect.Effect<boolean>
  ) {
    const project = yield* CurrentProject
    const admit = Effect.fnUntraced(function* ({ inputsBytes, outputBytes }: EventSummary) {
      const bytes = inputsBytes + outputBytes
      if (reserve !== undefined && !(yield* reserve(bytes))) return yield* new Overloaded()
      largeReads.before(bytes)
    })
    const onDamage = (damage: Damage, session: number) => {
      staleSessions.announce(project, session, "damaged")
      return logDamage(id, damage)
    }
    return yield* EventReader.read(storage, project, id, { admit, cache: unpacked, onDamage })
  })

  const getSharedText = Effect.fn("Recorder.getSharedText")(function* (
    name: Sha256,
    reserve?: (bytes: number) => Effect.Effect<boolean>
  ) {
    const admit = Effect.fnUntraced(function* (bytes: number) {
      if (reserve !== undefined && !(yield* reserve(bytes))) return yield* new Overloaded()
      largeReads.before(bytes)
    })
    return yield* SharedTextReader.read(storage, yield* CurrentProject, name, admit)
  })

  const listEvents = Effect.fn("Recorder.listEvents")(function* (query: EventListQuery) {
    const project = yield* CurrentProject
    const { next, rows } = yield* EventPages.settled(storage, project, query)
    return { events: yield* Effect.forEach(rows, (stored) => EventReader.summaryOf(project, stored, logDamage)), next }
  })

  const sessionReader = new SessionReader(storage, logDamage, pricing)
  yield* staleSessions.listen((project, session, why) => {
    // Other sessions stay as they are. A client may ask for a damaged event all the time.
    if (why === "damaged") return sessionReader.forgetSession(project, session)
    sessionReader.forget()
    unpacked.clear()
  })

  const listMessages = Effect.fn("Recorder.listMessages")(function* (session: SessionId, query: MessageQuery) {
    return yield* sessionReader.listMessages(yield* CurrentProject, session, query)
  })

  const listCalls = Effect.fn("Recorder.listCalls")(function* (session: SessionId, query: CallQuery) {
    return yield* sessionReader.listCalls(yield* CurrentProject, session, query)
  })

  const listConfigurations = Effect.fn("Recorder.listConfigurations")(function* ({
    from,
    to,
    ...query
  }: Omit<ConfigurationQuery, "fromMs" | "toMs"> & Period) {
    return yield* sessionReader.listConfigurations(yield* CurrentProject, {
      ...query,
      ...EventPages.callsBetween(from, to)
    })
  })

  const search = Effect.fn("Recorder.search")(function* ({ fields = {}, ...query }: TextQuery) {
    const { after, isCaseSensitive, limit, text } = query
    const project = yield* CurrentProject
    return yield* Search.search(
      storage,
      project,
      { text, isCaseSensitive, names: EventPages.boundsOf(query), fields, after, limit },
      logDamage
    )
  })

  const follower = Follower.make(storage)

  const followedBy = (filter: EventFilterQuery) =>
    Effect.map(CurrentProject, (project): Follower.Followed => ({
      project,
      list: (after, limit) => EventPages.visible(storage, project, { ...filter, order: "asc", after, limit }),
      isMatch: EventMatch.of(EventPages.boundsOf(filter), filter.fields ?? {}),
      undamaged: (stored) => Effect.catch(EventReader.summaryOf(project, stored, logDamage), () => Effect.undefined)
    }))

  const resources = Resources.make(storage)

  const exportEvents = (
    { after, limit, ...filter }: ExportQuery,
    reserve: Exporter.Reserve = () => Effect.succeed(true)
  ) =>
    Effect.flatMap(CurrentProject, (project) => {
      const reading = ProjectReading.make(storage, project, resources, {
        event: (id) => Effect.catchTag(getEvent(id), "overloaded", () => Effect.die("Nothing was reserved")),
        page: (from, rows) =>
          EventPages.visible(storage, project, { ...filter, order: "asc", after: from, limit: rows })
      })
      return Exporter.items(reading, { after, limit }, isWhole({ ...filter, after, limit }), reserve)
    })

  const listAudit = Effect.fn("Recorder.listAudit")(function* ({ after, from, limit, to }: AuditListQuery) {
    const period = EventPages.idsBetween(from, to)
    const query = { above: period.above, below: after ?? period.below, limit }
    const { next, rows } = yield* storage.listAudit(yield* CurrentProject, query)
    return { rows: rows.map(Audit.ofStored), next }
  })

  const withTitles = Effect.fnUntraced(function* (project: ProjectId, sessions: ReadonlyArray<StoredSession>) {
    const firstEvents = sessions.map(({ firstEvent }) => firstEvent)
    const titles = yield* sessionTitles.of(project, firstEvents)
    return sessions.map((stored, index): SessionSummary => {
      const { firstEvent: _, ...session } = stored
      return { ...session, title: titles[index]! }
    })
  })

  const listSessions = Effect.fn("Recorder.listSessions")(function* ({ from, to, ...query }: SessionListQuery) {
    const project = yield* CurrentProject
    yield* deriveBefore(storage, project)
    const period = { fromMs: from?.epochMilliseconds, toMs: to?.epochMilliseconds }
    const { next, rows } = yield* storage.listSessions(project, { ...query, ...period })
    return { rows: yield* withTitles(project, rows), next }
  })

  const getSession = Effect.fn("Recorder.getSession")(function* (session: SessionId) {
    const project = yield* CurrentProject
    yield* deriveBefore(storage, project)
    const found = (yield* storage.sessionSummary(project, session)) ?? (yield* new SessionNotFound())
    const [summary] = yield* withTitles(project, [found])
    return summary!
  })

  const sumUsage = Effect.fn("Recorder.sumUsage")(function* ({
    from,
    groupBy,
    to,
    ...query
  }: Omit<UsageQuery, "fromMs" | "toMs"> & Period) {
    const project = yield* CurrentProject
    yield* deriveBefore(storage, project)
    return yield* storage.sumUsage(project, {
      ...query,
      groupBy: orderOf(groupBy),
      ...EventPages.callsBetween(from, to)
    })
  })

  const storageUsage = Effect.fn("Recorder.storageUsage")(function* (sessions: number) {
    return yield* storage.usage(yield* CurrentProject, sessions)
  })

  return Recorder.of({
    prices: yield* Prices.date,
    rules: yield* Rules.current,
    readFacts,
    rulesInUse: Effect.flatMap(CurrentProject, storage.rulesInUse),
    admission,
    knownPrefixesOf: groupCommit.knownPrefixesOf,
    createEvent,
    importEvent,
    getEvent,
    getSharedText,
    listEvents,
    listMessages,
    listCalls,
    listConfigurations,
    search,
    exportEvents,
    startFollowing: (query) => Effect.flatMap(followedBy(query), follower.start),
    awaitEvents: (query, from, maxWaitMs) =>
      Effect.flatMap(followedBy(query), (followed) => follower.wait(followed, from, maxWaitMs)),
    followEvents: (query, from) => Effect.map(followedBy(query), (followed) => follower.stream(followed, from)),
    ...resources,
    ...Importer.make(storage),
    ...AuditedErasures.make(storage, eraser),
    listAudit,
    listSessions,
    getSession,
    sumUsage,
    storageUsage
  })
})

/** Whether nothing is left out, not even what no event names. */
const isWhole = ({ fields = {}, ...filter }: ExportQuery): boolean =>
  [...Object.values(filter), ...Object.values(fields)].every((value) => value === undefined)

/**
 * The summary of a new event. Every field has been decoded, so the constructor is not called: it would look at each again and
 * copy it, which takes some ten times as long.
 */
const summaryOf = (
  id: EventId,
  receivedAt: DateTime.Utc,
  event: NewEvent,
  { costUsd, listCostUsd, price, priceIsExact, statedCostUsd, unpriced, unpricedParts }: ReadFacts.Cost
): EventSummary => {
  const { facts } = event.facts
  const { inputs, output } = event.payload
  return {
    __proto__: EventSummary.prototype,
    id,
    receivedAt,
    api: event.api,
    fingerprintId: event.fingerprintId,
    agent: event.agent ?? defaultAgentName,
    agentVersion: event.agentVersion ?? defaultAgentVersionName,
    person: event.person ?? null,
    session: event.session,
    occurredAt: event.occurredAt ?? null,
    durationMs: event.durationMs ?? null,
    firstTokenMs: event.firstTokenMs ?? null,
    httpStatus: event.httpStatus ?? null,
    traceId: event.traceId ?? null,
    spanId: event.spanId ?? null,
    recorded: event.recorded ?? null,
    provider: facts.provider,
    model: facts.model,
    responseModel: facts.responseModel,
    inputTokens: facts.inputTokens,
    outputTokens: facts.outputTokens,
    cacheReadTokens: facts.cacheReadTokens,
    cacheWriteTokens: facts.cacheWriteTokens,
    reasoningTokens: facts.reasoningTokens,
    stopReason: facts.stopReason,
    providerStopReason: facts.providerStopReason,
    toolCalls: facts.toolCalls,
    errorType: facts.errorType,
    errorStatus: facts.errorStatus,
    costUsd,
    statedCostUsd,
    listCostUsd,
    price,
    priceIsExact,
    unpricedParts,
    unpriced,
    inputsBytes: inputs.end - inputs.start,
    outputBytes: output.end - output.start
  } satisfies EventSummary & { readonly __proto__: EventSummary } as EventSummary
}
