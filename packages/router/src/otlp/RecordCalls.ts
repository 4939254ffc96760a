/** Records the calls that spans tell: each once, however often and by whatever process it is told. */
import { PayloadTooLargeError, ValidationFailure } from "@tachograph/api"
import { byStart, type Call, isTwin } from "@tachograph/capture/spans/Assemble"
import { groupOf } from "@tachograph/capture/spans/Groups"
import type { Attributes, Span } from "@tachograph/capture/spans/Span"
import {
  CurrentProject,
  Errors,
  type EventSummary,
  Fingerprint,
  type FingerprintId,
  LruCache,
  type ProjectId,
  type Recorder,
  type Storage
} from "@tachograph/core"
import type { TraceId } from "@tachograph/core/domain/Trace"
import * as Effect from "effect/Effect"
import * as Semaphore from "effect/Semaphore"
import { keyOfHeader } from "../events/EventDecoder.ts"
import { whenThereIsRoom } from "../events/RecordMany.ts"
import type { Decode } from "../events/SentEvent.ts"
import * as CallBody from "./CallBody.ts"

/** What became of a call: recorded now or before, or why it cannot be. */
export type Outcome = "recorded" | { readonly refused: string }

/** Memory of the fingerprints of resources (bytes), and of one of them. */
const maxFingerprintBytes = 1024 * 1024
const fingerprintBytes = 2_000

const noHash = Buffer.alloc(0)

/** Events of a trace that are looked at to find one of a span. */
const maxEvents = 10_000

/** The longest text of a fingerprint (UTF-16 units): programs of one runtime have the same. */
const maxText = 200

const textOf = (resource: Attributes, ...keys: ReadonlyArray<string>): string => {
  const found = keys.map((key) => resource.get(key)).find((value) => typeof value === "string" && value !== "")
  return String(found ?? "unknown").slice(0, maxText)
}

/** The runtime that a resource describes. */
const fingerprintOf = (resource: Attributes): Fingerprint => {
  const sdk = resource.get("telemetry.sdk.name")
  return new Fingerprint({
    language: textOf(resource, "telemetry.sdk.language", "process.runtime.name"),
    languageVersion: textOf(resource, "process.runtime.version"),
    system: textOf(resource, "os.type", "os.name", "host.arch"),
    provider1SdkVersion: null,
    provider2SdkVersion: null,
    provider3SdkVersion: null,
    serviceSdkVersion: null,
    allPackages:
      typeof sdk === "string" ? { [sdk.slice(0, maxText)]: textOf(resource, "telemetry.sdk.version") } : null,
    gitRepositoryUrl: null,
    gitBranch: null,
    gitCommitHash: null,
    gitCommitDate: null
  })
}

/** An event as a span of another instrumentation would be compared with it. */
const isSameCall = (span: Span, { durationMs, model, occurredAt, recorded }: EventSummary): boolean => {
  const startMs = occurredAt?.epochMilliseconds
  const scope = (recorded?.["otlp"] as { readonly scope?: unknown } | undefined)?.scope
  if (startMs === undefined || typeof scope !== "string" || startMs > span.endMs) return false
  return isTwin(span, {
    ...span,
    scope: { name: scope, version: "" },
    startMs,
    endMs: startMs + (durationMs ?? 0),
    attributes: new Map(model === null ? [] : [["gen_ai.request.model", model]])
  })
}

/** How long before and after a span its event may have taken place (ms): records tell it later, and other spans of the same call earlier. */
const beforeMs = { ofContent: 1_000, ofCounts: 60_000 }
const afterMs = 1_000

/** When an event of a call can have taken place. Records alone do not say it. */
const timesOf = ({ hasContent, span: { endMs, startMs }, spans }: Call) => {
  if (spans.length === 0 || !CallBody.isTime(startMs) || !CallBody.isTime(endMs)) return {}
  const before = hasContent ? beforeMs.ofContent : beforeMs.ofCounts
  return { fromMs: Math.floor(startMs) - before, toMs: Math.floor(Math.max(startMs, endMs)) + afterMs }
}

export type IsErased = (names: {
  readonly session?: string | undefined
  readonly person?: string | undefined
}) => boolean

interface Limits {
  /** The longest body of an event (bytes). */
  readonly maxEventBytes: number
  /** Whether a call of some session and person was erased before it could be recorded. */
  readonly isErased?: (call: Call) => IsErased | undefined
}

/** Traces share locks. */
const lockCount = 64

/** Whether the idempotency key is enough to find another event of the call: it finds those of one session, which the span itself names. */
const hasKey = ({ hasContent, span }: Call): boolean =>
  span.traceId === "" || (hasContent && groupOf(span, []).session !== undefined)

export type RecordCalls = ReturnType<typeof make>

type Failure = Errors.Overloaded | Errors.StorageUnavailable

const minOf = (values: ReadonlyArray<number>): number =>
  values.reduce((least, value) => Math.min(least, value), Number.POSITIVE_INFINITY)

export const make = (recorder: Recorder["Service"], storage: Storage["Service"], decode: Decode) => {
  const fingerprints = new LruCache<string, FingerprintId>(maxFingerprintBytes)

  const fingerprintIn = Effect.fnUntraced(function* (project: ProjectId, resource: Attributes) {
    const fingerprint = fingerprintOf(resource)
    const key = JSON.stringify([project, fingerprint])
    const known = fingerprints.get(key)
    if (known !== undefined) return known
    const id = yield* recorder.createFingerprint(fingerprint)
    fingerprints.set(key, id, fingerprintBytes)
    return id
  })

  /** The events of a trace, around the times of some calls of it. */
  const eventsOf = Effect.fnUntraced(function* (project: ProjectId, traceId: string, calls: ReadonlyArray<Call>) {
    const times = calls.map(timesOf)
    const isBounded = times.every(({ fromMs }) => fromMs !== undefined)
    const period = isBounded
      ? { fromMs: minOf(times.map(({ fromMs }) => fromMs!)), toMs: -minOf(times.map(({ toMs }) => -toMs!)) }
      : {}
    const page = { order: "asc", limit: maxEvents, ...period } as const
    const { rows } = yield* storage.findEvents(project, page, { traceId: traceId as TraceId }, maxEvents)
    return rows.flatMap(({ summary }) => summary ?? [])
  })

  /** Those of which no event exists, whatever its session. */
  const unknown = Effect.fnUntraced(function* (project: ProjectId, calls: ReadonlyArray<Call>) {
    const known = new Set<Call>()
    for (const [traceId, ofTrace] of Map.groupBy(
      calls.filter((call) => !hasKey(call)),
      ({ span }) => span.traceId
    )) {
      const events = yield* eventsOf(project, traceId, ofTrace)
      const spans = new Set(events.map(({ spanId }) => spanId as string | null))
      for (const call of ofTrace) {
        const isTold = () => !call.hasContent && events.some((event) => isSameCall(call.span, event))
        if (spans.has(call.span.spanId) || isTold()) known.add(call)
      }
    }
    return calls.filter((call) => !known.has(call))
  })

  const eventOf = Effect.fnUntraced(function* (project: ProjectId, call: Call, { isErased, maxEventBytes }: Limits) {
    const { bytes, person, session } = CallBody.of(call, yield* fingerprintIn(project, call.span.resource))
    if (isErased?.(call)?.({ session, person }) === true) return undefined
    if (bytes.length > maxEventBytes) return yield* new PayloadTooLargeError()
    const key = keyOfHeader(CallBody.keyOf(call))
    const { event } = yield* decode(project, { bytes, isJson: true }, false, key)
    // The first one counts, whatever another one says.
    return { ...event, idempotency: event.idempotency && { ...event.idempotency, bodyHash: noHash } }
  })

  const refused = (why: string): Effect.Effect<Outcome> => Effect.succeed({ refused: why })

  /** Puts a call into the commit queue, behind those before it. Returns an effect that waits until it is committed. */
  const queue = Effect.fnUntraced(function* (project: ProjectId, call: Call, limits: Limits) {
    const event = yield* eventOf(project, call, limits)
    if (event === undefined) return Effect.succeed<Outcome>("recorded")
    const permit = recorder.admission.permit()
    const enter = Effect.suspend(() =>
      permit.reserve(event.payload.text.length) && permit.enqueue() ? Effect.void : Effect.fail(new Errors.Overloaded())
    )
    yield* whenThereIsRoom(enter)
    const committed = yield* Effect.onError(recorder.queueEvent({ ...event, isAdmitted: true }, permit), () =>
      Effect.sync(permit.release)
    )
    return committed.pipe(
      Effect.as("recorded" as const),
      // Somebody recorded an event under a key of this form.
      Effect.catchTag("idempotency-key-reused", () => Effect.succeed("recorded" as const))
    )
  })

  const queued = (project: ProjectId, call: Call, limits: Limits) =>
    queue(project, call, limits).pipe(
      Effect.catchIf(
        (error) => error instanceof PayloadTooLargeError,
        () => Effect.succeed(refused(`a call is longer than ${limits.maxEventBytes} bytes`))
      ),
      Effect.catchIf(
        (error) => error instanceof ValidationFailure,
        ({ detail }) =>
          Effect.succeed(refused(`a call is none that can be stored: ${detail[0]?.loc.join(".")}: ${detail[0]?.msg}`))
      ),
      // Neither is sent: a call has a session, and its fingerprint was made just now.
      Effect.catchTags({ "session-id-empty": Effect.die, "fingerprint-not-found": Effect.die })
    )

  const recordAll = Effect.fnUntraced(function* (project: ProjectId, calls: ReadonlyArray<Call>, limits: Limits) {
    const committing: Array<Effect.Effect<Outcome, Failure>> = []
    for (const call of yield* unknown(project, calls.toSorted(byStart)))
      committing.push(yield* queued(project, call, limits))
    return yield* Effect.all(committing, { concurrency: "unbounded" })
  })

  const locks = Array.from({ length: lockCount }, () => Semaphore.makeUnsafe(1))

  /** What waits of a trace may be recorded at the same time as what comes: one after the other. Locks are taken in their order. */
  const alone = <A, E>(calls: ReadonlyArray<Call>, record: Effect.Effect<A, E>): Effect.Effect<A, E> => {
    const traces = calls.filter((call) => !hasKey(call)).map(({ span }) => span.traceId)
    const needed = new Set(traces.map((trace) => Number.parseInt(trace.slice(-4), 16) % lockCount))
    return Array.from(needed)
      .toSorted((one, other) => other - one)
      .reduce((inner, index) => locks[index]!.withPermits(1)(inner), record)
  }

  /**
   * Records calls in the order of their beginnings. Fails where the storage does, or has no room: then they are to be told again. Returns what
   * became of those of which no event existed.
   */
  return (
    project: ProjectId,
    calls: ReadonlyArray<Call>,
    limits: Limits
  ): Effect.Effect<ReadonlyArray<Outcome>, Failure> =>
    calls.length === 0
      ? Effect.succeed([])
      : alone(calls, recordAll(project, calls, limits)).pipe(Effect.provideService(CurrentProject, project))
}
