/** Records events: what is sent, and what was recorded elsewhere before. */
import type * as DateTime from "effect/DateTime"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import {
  ChecksumDiffers,
  type EventIdInvalid,
  type EventIdTaken,
  FingerprintNotFound,
  type IdempotencyKeyReused,
  Overloaded,
  SessionIdEmpty,
  type StorageUnavailable
} from "../domain/Errors.ts"
import type { EventId } from "../domain/Event.ts"
import type { FingerprintId } from "../domain/Fingerprint.ts"
import { CurrentProject, type ProjectId } from "../domain/Project.ts"
import type { Pricing } from "../facts/Pricing.ts"
import * as ReadFacts from "../facts/ReadFacts.ts"
import type { KnownPrefixes } from "../payload/scan/PieceScanner.ts"
import type { Storage } from "../Storage.ts"
import * as Checksum from "../storage/Checksum.ts"
import type { Result } from "../storage/Result.ts"
import * as Spans from "../telemetry/Spans.ts"
import { AdmissionControl, type Permit } from "./AdmissionControl.ts"
import type { GivenId, WrittenEvent } from "./CommitBatch.ts"
import { CommitLimits } from "./CommitLimits.ts"
import * as CommitMetrics from "./CommitMetrics.ts"
import type { GroupCommit } from "./GroupCommit.ts"
import * as ImportedEvent from "./ImportedEvent.ts"
import type { NewEvent } from "./NewEvent.ts"
import * as StepRecording from "./StepRecording.ts"
import * as Summary from "./Summary.ts"

/** Fingerprints that are known to exist. Every event names one, and none is ever deleted. */
const cachedFingerprints = 10_000

export interface Recording extends StepRecording.StepRecording {
  /**
   * Succeeds when the event is committed and readable, and not before. Fails with `Overloaded` if too much waits; an event
   * that `isAdmitted` is not counted again.
   */
  readonly createEvent: (
    event: NewEvent
  ) => Result<WrittenEvent, SessionIdEmpty | FingerprintNotFound | Overloaded | IdempotencyKeyReused>
  /**
   * Succeeds when the event is in the queue, behind those before it, with what `createEvent` answers. Releases the permit of the event when it
   * is committed, and not where it fails.
   */
  readonly queueEvent: (
    event: NewEvent,
    permit: Permit
  ) => Result<
    Effect.Effect<WrittenEvent, StorageUnavailable | Overloaded | IdempotencyKeyReused>,
    SessionIdEmpty | FingerprintNotFound
  >
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
  /** Counts request bodies and queued events of this process, whichever mount they come through. */
  readonly admission: AdmissionControl
  /** How the conversations of a session are known to begin, for `EventJson.open`. */
  readonly knownPrefixesOf: (project: ProjectId, session: string) => KnownPrefixes
}

export const make = Effect.fnUntraced(function* (
  storage: Storage["Service"],
  groupCommit: GroupCommit["Service"],
  pricing: Effect.Effect<Pricing>
) {
  const knownFingerprints = new Set<string>()
  const checkFingerprint = Effect.fnUntraced(function* (project: ProjectId, id: FingerprintId) {
    const key = `${id} ${project}`
    if (knownFingerprints.has(key)) return
    if (!(yield* storage.hasFingerprint(project, id))) return yield* new FingerprintNotFound()
    if (knownFingerprints.size >= cachedFingerprints) knownFingerprints.clear()
    knownFingerprints.add(key)
  })

  const admission = new AdmissionControl(yield* CommitLimits, groupCommit.capacity)
  yield* CommitMetrics.showAdmission(admission)

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
    yield* checkFingerprint(project, fingerprintId)

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
      const summary = Summary.of(id, receivedAt, event, cost)
      return { summary, checksums: { summary: Checksum.ofSummary(project, summary), texts }, rules }
    }
    return { project, session, withId, given, payload, metadata, idempotency, arrivedAtMs }
  })

  const createEvent = Effect.fnUntraced(function* (event: NewEvent) {
    const append = groupCommit.append(yield* prepare(event))
    return yield* event.isAdmitted === true ? append : admitted(event.payload.text.length, append)
  }, Spans.spanIfTraced("Recorder.createEvent"))

  const queueEvent = Effect.fnUntraced(function* (event: NewEvent, permit: Permit) {
    const append = Effect.ensuring(groupCommit.append(yield* prepare(event)), Effect.sync(permit.release))
    return Fiber.join(yield* Effect.forkDetach(append, { startImmediately: true }))
  })

  const importEvent = Effect.fnUntraced(function* (event: NewEvent, given: GivenId, checksum?: number) {
    yield* ImportedEvent.checkId(given.id, event.session)
    const pending = yield* prepare(event, given)
    const own = pending.withId(given.id, given.receivedAt)
    if (checksum !== undefined && checksum !== own.checksums.texts >>> 0) return yield* new ChecksumDiffers()
    const compared = storage.getEvent(pending.project, given.id, 0).pipe(
      Effect.flatMap((stored) => ImportedEvent.compare(stored, own)),
      Effect.catchTag("event-not-found", () => Effect.undefined)
    )
    const existing = yield* compared
    if (existing !== undefined) return yield* Effect.as(storage.waitUntilKept, existing)
    return yield* admitted(event.payload.text.length, groupCommit.append(pending)).pipe(
      Effect.as("imported" as const),
      Effect.catchTag("idempotency-key-reused", (error) => Effect.die(error)),
      // Another import has stored it meanwhile.
      Effect.catchDefect((defect) =>
        Effect.flatMap(compared, (existing) => (existing === undefined ? Effect.die(defect) : Effect.succeed(existing)))
      )
    )
  }, Spans.spanIfTraced("Recorder.importEvent"))

  const recording: Recording = {
    createEvent,
    queueEvent,
    importEvent,
    ...StepRecording.make(groupCommit, admitted),
    admission,
    knownPrefixesOf: groupCommit.knownPrefixesOf
  }
  return recording
})
