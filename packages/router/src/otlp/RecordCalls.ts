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
  /** Whether a call of this session and person was erased before it could be recorded. */
  readonly isErased?: IsErased | undefined
}

/** Traces share locks. */
const lockCount = 64

/** Whether the idempotency key is enough to find another event of the call: it finds those of one session, which the span itself names. */
const hasKey = ({ hasContent, span }: Call): boolean =>
  span.traceId === "" || (hasContent && groupOf(span, []).session !== undefined)

export type RecordCall = ReturnType<typeof make>

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

  /** Whether an event of the span exists, whatever its session. */
  const exists = Effect.fnUntraced(function* (project: ProjectId, call: Call) {
    const { hasContent, span } = call
    const page = { order: "asc", limit: maxEvents, ...timesOf(call) } as const
    const { rows } = yield* storage.findEvents(project, page, { traceId: span.traceId as TraceId }, maxEvents)
    return rows.some(
      ({ summary }) =>
        summary !== undefined &&
        ((span.spanId !== "" && summary.spanId === span.spanId) || (!hasContent && isSameCall(span, summary)))
    )
  })

  const create = Effect.fnUntraced(function* (project: ProjectId, call: Call, { isErased, maxEventBytes }: Limits) {
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

  /** Calls of one trace one after the other: what waits of it may be recorded at the same time as what comes. */
  const unlessKnown = <E, R>(project: ProjectId, call: Call, record: Effect.Effect<void, E, R>) =>
    hasKey(call)
      ? record
      : locks[Number.parseInt(call.span.traceId.slice(-4), 16) % lockCount]!.withPermits(1)(
          Effect.flatMap(exists(project, call), (isKnown) => (isKnown ? Effect.void : record))
        )

  const refused = (why: string): Effect.Effect<Outcome> => Effect.succeed({ refused: why })

  /** Fails where the storage does, or has no room: then the call is to be told again. */
  return (
    project: ProjectId,
    call: Call,
    limits: Limits
  ): Effect.Effect<Outcome, Errors.Overloaded | Errors.StorageUnavailable> =>
    unlessKnown(project, call, create(project, call, limits)).pipe(
      Effect.as("recorded" as const),
      Effect.provideService(CurrentProject, project),
      // Somebody recorded an event under a key of this form.
      Effect.catchTag("idempotency-key-reused", () => Effect.succeed("recorded" as const)),
      Effect.catchIf(
        (error) => error instanceof PayloadTooLargeError,
        () => refused(`a call is longer than ${limits.maxEventBytes} bytes`)
      ),
      Effect.catchIf(
        (error) => error instanceof ValidationFailure,
        ({ detail }) => refused(`a call is none that can be stored: ${detail[0]?.loc.join(".")}: ${detail[0]?.msg}`)
      ),
      // Neither is sent: a call has a session, and its fingerprint was made just now.
      Effect.catchTags({ "session-id-empty": Effect.die, "fingerprint-not-found": Effect.die })
    )
}
