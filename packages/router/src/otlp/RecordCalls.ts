/** Records the calls that spans tell: each once, however often and by whatever process it is told. */
import { PayloadTooLargeError, ValidationFailure } from "@tachograph/api"
import { type Call, isTwin } from "@tachograph/capture/spans/Assemble"
import { groupOf } from "@tachograph/capture/spans/Groups"
import type { Attributes, Span } from "@tachograph/capture/spans/Span"
import {
  CurrentProject,
  type Errors,
  type EventSummary,
  Fingerprint,
  type FingerprintId,
  LruCache,
  type ProjectId,
  type Recorder,
  type Storage
} from "@tachograph/core"
import type { SpanId, TraceId } from "@tachograph/core/domain/Trace"
import * as Effect from "effect/Effect"
import * as Semaphore from "effect/Semaphore"
import { keyOfHeader } from "../events/EventDecoder.ts"
import { recordMany, whenThereIsRoom } from "../events/RecordMany.ts"
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

/** When the events of calls can have taken place. Records alone do not say it. */
const timesOf = (calls: ReadonlyArray<Told>) => {
  const times = calls.map(({ call: { hasContent, span, spans } }) => ({
    isKnown: spans.length > 0 && CallBody.isTime(span.startMs) && CallBody.isTime(span.endMs),
    from: span.startMs - (hasContent ? beforeMs.ofContent : beforeMs.ofCounts),
    to: Math.max(span.startMs, span.endMs) + afterMs
  }))
  if (times.some(({ isKnown }) => !isKnown)) return {}
  return {
    fromMs: Math.floor(times.reduce((first, { from }) => Math.min(first, from), Number.POSITIVE_INFINITY)),
    toMs: Math.floor(times.reduce((last, { to }) => Math.max(last, to), 0))
  }
}

export type IsErased = (names: {
  readonly session?: string | undefined
  readonly person?: string | undefined
}) => boolean

/** A call that is to be recorded. */
export interface Told {
  readonly call: Call
  /** Whether a call of this session and person was erased before it could be recorded. */
  readonly isErased?: IsErased | undefined
}

/** Traces share locks. */
const lockCount = 64

/** Whether the idempotency key is enough to find another event of the call: it finds those of one session, which the span itself names. */
const hasKey = ({ hasContent, span }: Call): boolean =>
  span.traceId === "" || (hasContent && groupOf(span, []).session !== undefined)

export type RecordCalls = ReturnType<typeof make>

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

  /** The events that those of some calls of a trace may be among, whatever their sessions. */
  const eventsAt = Effect.fnUntraced(function* (project: ProjectId, calls: ReadonlyArray<Told>) {
    const page = { order: "asc", limit: maxEvents, ...timesOf(calls) } as const
    const traceId = calls[0]!.call.span.traceId as TraceId
    const { rows } = yield* storage.findEvents(project, page, { traceId }, maxEvents)
    const summaries = rows.flatMap(({ summary }) => (summary === undefined ? [] : [summary]))
    const spans = new Set(summaries.map(({ spanId }) => spanId))
    return ({ hasContent, span }: Call) =>
      (span.spanId !== "" && spans.has(span.spanId as SpanId)) ||
      (!hasContent && summaries.some((summary) => isSameCall(span, summary)))
  })

  const create = Effect.fnUntraced(function* (project: ProjectId, { call, isErased }: Told, maxEventBytes: number) {
    const { bytes, person, session } = CallBody.of(call, yield* fingerprintIn(project, call.span.resource))
    if (isErased?.({ session, person }) === true) return
    if (bytes.length > maxEventBytes) return yield* new PayloadTooLargeError()
    const key = keyOfHeader(CallBody.keyOf(call))
    const { event } = yield* decode(project, { bytes, isJson: true }, false, key)
    // The first one counts, whatever another one says.
    const idempotency = event.idempotency && { ...event.idempotency, bodyHash: noHash }
    yield* whenThereIsRoom(recorder.createEvent({ ...event, idempotency }))
  })

  const locks = Array.from({ length: lockCount }, () => Semaphore.makeUnsafe(1))

  const refused = (why: string): Effect.Effect<Outcome> => Effect.succeed({ refused: why })

  const record = (project: ProjectId, told: Told, maxEventBytes: number) =>
    create(project, told, maxEventBytes).pipe(
      Effect.as("recorded" as const),
      Effect.provideService(CurrentProject, project),
      // Somebody recorded an event under a key of this form.
      Effect.catchTag("idempotency-key-reused", () => Effect.succeed("recorded" as const)),
      Effect.catchIf(
        (error) => error instanceof PayloadTooLargeError,
        () => refused(`a call is longer than ${maxEventBytes} bytes`)
      ),
      Effect.catchIf(
        (error) => error instanceof ValidationFailure,
        ({ detail }) => refused(`a call is none that can be stored: ${detail[0]?.loc.join(".")}: ${detail[0]?.msg}`)
      ),
      // Neither is sent: a call has a session, and its fingerprint was made just now.
      Effect.catchTags({ "session-id-empty": Effect.die, "fingerprint-not-found": Effect.die })
    )

  /** Posts of one trace one after the other: what waits of it may be recorded at the same time as what comes. */
  const recordTrace = (project: ProjectId, traceId: string, calls: ReadonlyArray<Told>, maxEventBytes: number) =>
    locks[Number.parseInt(traceId.slice(-4), 16) % lockCount]!.withPermits(1)(
      Effect.flatMap(eventsAt(project, calls), (isKnown) =>
        recordMany(calls, (told) =>
          isKnown(told.call) ? Effect.succeed("recorded" as const) : record(project, told, maxEventBytes)
        )
      )
    )

  /** In the order of the calls. Fails where the storage does, or has no room: then they are to be told again. */
  return Effect.fnUntraced(function* (
    project: ProjectId,
    calls: ReadonlyArray<Told>,
    maxEventBytes: number
  ): Effect.fn.Return<ReadonlyArray<Outcome>, Errors.Overloaded | Errors.StorageUnavailable> {
    const traces = Array.from(Map.groupBy(calls, ({ call }) => (hasKey(call) ? "" : call.span.traceId)))
    const outcomes = new Map<Told, Outcome>()
    yield* recordMany(traces, ([traceId, ofTrace]) =>
      Effect.map(
        traceId === ""
          ? recordMany(ofTrace, (told) => record(project, told, maxEventBytes))
          : recordTrace(project, traceId, ofTrace, maxEventBytes),
        (found) => ofTrace.forEach((told, n) => outcomes.set(told, found[n]!))
      )
    )
    return calls.map((told) => outcomes.get(told)!)
  })
}
