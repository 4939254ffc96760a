/** The operations of Tachograph, independent of any transport. */
import { Cache, Context, DateTime, Duration, Effect, Exit, Fiber, Layer } from "effect"
import { defaultAgentName } from "./domain/Agent.ts"
import { defaultAgentVersionName } from "./domain/AgentVersion.ts"
import {
  type EventDamaged,
  type EventNotFound,
  FingerprintNotFound,
  type IdempotencyKeyReused,
  Overloaded,
  type PersonNotFound,
  SessionIdEmpty,
  type SessionNotFound,
  type StorageUnavailable
} from "./domain/Errors.ts"
import { type Event, type EventId, EventSummary } from "./domain/Event.ts"
import type { FingerprintId } from "./domain/Fingerprint.ts"
import type { PersonId } from "./domain/Person.ts"
import { CurrentProject, type ProjectId } from "./domain/Project.ts"
import type { SessionId } from "./domain/Session.ts"
import type { ErasureReceipt } from "./domain/ErasureReceipt.ts"
import type { StorageUsage } from "./domain/StorageUsage.ts"
import { Eraser } from "./erase/Eraser.ts"
import * as Uuid from "./domain/Uuid.ts"
import * as EventIds from "./record/EventIds.ts"
import type { Damage } from "./payload/format/Damage.ts"
import * as DamageLog from "./read/DamageLog.ts"
import * as EventReader from "./read/EventReader.ts"
import { CollectGarbage, LargeReads } from "./read/LargeReads.ts"
import type { WrittenEvent } from "./record/CommitBatch.ts"
import { CommitLimits } from "./record/CommitLimits.ts"
import * as CommitMetrics from "./record/CommitMetrics.ts"
import * as Prices from "./facts/Prices.ts"
import * as ReadFacts from "./facts/ReadFacts.ts"
import { GroupCommit } from "./record/GroupCommit.ts"
import type { NewEvent } from "./record/NewEvent.ts"
import * as Checksum from "./read/Checksum.ts"
import type { KnownPrefixes } from "./payload/scan/PieceScanner.ts"
import { AdmissionControl } from "./record/AdmissionControl.ts"
import { StaleSessions } from "./sessions/StaleSessions.ts"
import * as Spans from "./telemetry/Spans.ts"
import * as Resources from "./Resources.ts"
import { type EventQuery, type FieldFilter, type ListPage, Storage, type StoredSummary } from "./Storage.ts"

type Result<A, E = never> = Effect.Effect<A, E | StorageUnavailable>

/** Fingerprints that are known to exist. Every event names one, and none is ever deleted. */
const cachedFingerprints = 10_000

/** Events that a list looks at for one page, where it is filtered by fields of which there is no index. */
const maxLookedEvents = 10_000

export interface EventListQuery extends Omit<EventQuery, "above" | "below"> {
  readonly fields?: FieldFilter | undefined
  /** Received at this time or later, and received before this time: by the times in the ids. */
  readonly from?: DateTime.Utc | undefined
  readonly to?: DateTime.Utc | undefined
}

export interface EventPage {
  readonly events: ReadonlyArray<EventSummary>
  /** The event after which the next page starts, which may be none of this page; undefined on the last page. */
  readonly next: EventId | undefined
}

/** Every operation works in the `CurrentProject`. */
export class Recorder extends Context.Service<
  Recorder,
  Resources.Resources & {
    /**
     * Succeeds when the event is committed and readable, and not before. Fails with `Overloaded` if too much waits; an event
     * that `isAdmitted` is not counted again.
     */
    readonly createEvent: (
      event: NewEvent
    ) => Result<WrittenEvent, SessionIdEmpty | FingerprintNotFound | Overloaded | IdempotencyKeyReused>
    /** The days of the price lists by which calls get their costs. */
    readonly prices: string
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
    /** Fails with `EventDamaged` if the fields of an event are damaged. The page after it can be read. */
    readonly listEvents: (query: EventListQuery) => Result<EventPage, EventDamaged>
    /** Erases the person and all their events. After an interruption, run it again to complete it. */
    readonly erasePerson: (id: PersonId) => Result<ErasureReceipt, PersonNotFound>
    /** Erases a session and its events. */
    readonly eraseSession: (session: SessionId) => Result<ErasureReceipt, SessionNotFound>
    /** What payloads take as sent and as stored. `sessions` is how many of the largest sessions are listed. */
    readonly storageUsage: (sessions: number) => Result<StorageUsage>
  }
>()("tachograph/core/Recorder") {
  static readonly layerNoDeps: Layer.Layer<
    Recorder,
    never,
    Storage | EventIds.EventIds | GroupCommit | Eraser | StaleSessions
  > = Layer.effect(
    Recorder,
    Effect.suspend(() => make)
  )

  static readonly layer: Layer.Layer<Recorder, never, Storage> = this.layerNoDeps.pipe(
    Layer.provide([EventIds.EventIds.layer, GroupCommit.layer, Eraser.layer, StaleSessions.layer])
  )
}

const make = Effect.gen(function* () {
  const storage = yield* Storage
  const ids = yield* EventIds.EventIds
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

  const prices = yield* Prices.load
  const admission = new AdmissionControl(yield* CommitLimits, groupCommit.isSaturated)
  yield* CommitMetrics.showAdmission(admission)
  const logDamage = DamageLog.make()
  const largeReads = new LargeReads(yield* CollectGarbage)

  /** Counts an event that no mount has counted. Interrupting the caller leaves it counted until it is committed. */
  const admitted = Effect.fnUntraced(function* <A, E>(bytes: number, append: Effect.Effect<A, E>) {
    const permit = admission.permit()
    if (!permit.reserve(bytes) || !permit.enqueue()) {
      permit.release()
      return yield* new Overloaded()
    }
    return yield* Fiber.join(yield* Effect.forkDetach(Effect.ensuring(append, Effect.sync(permit.release))))
  })

  const createEvent = Effect.fnUntraced(function* (event: NewEvent) {
    const project = yield* CurrentProject
    const { fingerprintId, session } = event
    if (session === "") return yield* new SessionIdEmpty()
    const known = yield* Cache.get(knownFingerprints, JSON.stringify({ project, id: fingerprintId }))
    if (!known) return yield* new FingerprintNotFound()

    const [id, now] = yield* ids.next(session)
    const receivedAt = DateTime.makeUnsafe(now)
    const { inputs, output } = event.payload
    const cost = ReadFacts.costOf(prices, event.facts, event.occurredAt ?? receivedAt)
    const summary = summaryOf(id, receivedAt, event, cost)
    const { arrivedAtMs, idempotency, isAdmitted, metadata = null, payload } = event
    const checksums = {
      summary: Checksum.ofSummary(project, summary),
      texts: Checksum.ofTexts(
        payload.text.subarray(inputs.start, inputs.end),
        payload.text.subarray(output.start, output.end),
        metadata
      )
    }
    const append = groupCommit.append({ project, summary, checksums, payload, metadata, idempotency, arrivedAtMs })
    return yield* isAdmitted === true ? append : admitted(payload.text.length, append)
  }, Spans.spanIfTraced("Recorder.createEvent"))

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
      staleSessions.announce(project, session)
      return logDamage(id, damage)
    }
    return yield* EventReader.read(storage, project, id, { admit, onDamage })
  })

  const listEvents = Effect.fn("Recorder.listEvents")(function* ({ fields = {}, from, to, ...names }: EventListQuery) {
    const project = yield* CurrentProject
    const query = { ...names, ...(from && { above: lastIdBefore(from) }), ...(to && { below: firstIdOf(to) }) }
    const isFound = Object.values(fields).some((value) => value !== undefined)
    const { next, rows } = isFound
      ? yield* storage.findEvents(project, query, fields, maxLookedEvents)
      : pageOf(yield* storage.listEvents(project, { ...query, limit: query.limit + 1 }), query.limit)
    return { events: yield* Effect.forEach(rows, (stored) => EventReader.summaryOf(project, stored, logDamage)), next }
  })

  const erasePerson = Effect.fn("Recorder.erasePerson")(function* (id: PersonId) {
    return yield* eraser.erasePerson(yield* CurrentProject, id)
  })

  const eraseSession = Effect.fn("Recorder.eraseSession")(function* (session: SessionId) {
    return yield* eraser.eraseSession(yield* CurrentProject, session)
  })

  const storageUsage = Effect.fn("Recorder.storageUsage")(function* (sessions: number) {
    return yield* storage.usage(yield* CurrentProject, sessions)
  })

  return Recorder.of({
    prices: prices.date,
    admission,
    knownPrefixesOf: groupCommit.knownPrefixesOf,
    createEvent,
    getEvent,
    listEvents,
    ...Resources.make(storage),
    erasePerson,
    eraseSession,
    storageUsage
  })
})

/** One more event than a page has shows whether there is a next page. */
const pageOf = (found: ReadonlyArray<StoredSummary>, limit: number): ListPage<StoredSummary, EventId> => {
  const rows = found.slice(0, limit)
  return { rows, next: found.length > limit ? rows.at(-1)?.id : undefined }
}

const firstIdOf = (time: DateTime.Utc): EventId => EventIds.firstIdOf(Math.max(0, time.epochMilliseconds))

const lastIdBefore = (time: DateTime.Utc): EventId => Uuid.previous(firstIdOf(time))

/**
 * The summary of a new event. Every field has been decoded, so the constructor is not called: it would look at each again and
 * copy it, which takes some ten times as long.
 */
const summaryOf = (
  id: EventId,
  receivedAt: DateTime.Utc,
  event: NewEvent,
  { costUsd, price, priceIsExact, unpriced }: ReadFacts.Cost
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
    price,
    priceIsExact,
    unpriced,
    inputsBytes: inputs.end - inputs.start,
    outputBytes: output.end - output.start
  } satisfies EventSummary & { readonly __proto__: EventSummary } as EventSummary
}
