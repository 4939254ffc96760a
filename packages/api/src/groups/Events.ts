import { AgentName } from "@tachograph/core/domain/Agent"
import { AgentVersionName } from "@tachograph/core/domain/AgentVersion"
import { Api, EventId, EventReceipt, EventSummary } from "@tachograph/core/domain/Event"
import { FingerprintId } from "@tachograph/core/domain/Fingerprint"
import { IdempotencyKey } from "@tachograph/core/domain/IdempotencyKey"
import { PersonId } from "@tachograph/core/domain/Person"
import * as ProviderNames from "@tachograph/core/domain/ProviderNames"
import { SessionId } from "@tachograph/core/domain/Session"
import * as Violation from "@tachograph/core/domain/Violation"
import { Effect, Option, Schema, SchemaTransformation } from "effect"
import { HttpApiEndpoint, HttpApiGroup, OpenApi } from "effect/http-api"
import { AllowedScopes, readingOnly, writing } from "../Authorization.ts"
import { EventNotFound, FingerprintNotFound, IdempotencyKeyReused, SessionIdEmpty, bodyErrors } from "../Errors.ts"
import { Instant } from "../Instant.ts"
import { JsonObject, optional } from "../Json.ts"
import { Limit } from "../Limit.ts"

const oneOf = (values: ReadonlyArray<string>) => {
  const quoted = values.map((value) => `'${value}'`)
  return [quoted.slice(0, -1).join(", "), quoted.at(-1)].filter(Boolean).join(" or ")
}

/** The neutral names, and the vendors' own as aliases of them. */
const ApiOrAlias = Schema.Literals([...ProviderNames.apis, ...ProviderNames.apiAliases.keys()]).pipe(
  Violation.annotate({
    type: "enum",
    msg: `Input should be ${oneOf(ProviderNames.apis)}`,
    ctx: { expected: oneOf(ProviderNames.apis) }
  }),
  Schema.decodeTo(
    Api,
    SchemaTransformation.transform({
      decode: (name: string) => ProviderNames.apiAliases.get(name) ?? (name as Api),
      encode: (api: string) => api
    })
  )
)

/** Milliseconds. */
const DurationMs = Schema.Number.check(
  Violation.check((value) =>
    Number.isFinite(value)
      ? value < 0
        ? Violation.greaterThanEqual(0)
        : undefined
      : { type: "finite_number", msg: "Input should be a finite number" }
  )
)

export const CreateEvent = Schema.Struct({
  event_name: Schema.Literal("llm"),
  properties: Schema.Struct({ api: ApiOrAlias, inputs: JsonObject, output: JsonObject }),
  fingerprint_id: FingerprintId,
  agent: optional(AgentName),
  agent_version: optional(AgentVersionName),
  person: optional(PersonId),
  session: SessionId,
  occurred_at: optional(Instant),
  duration_ms: optional(DurationMs)
})

/** In lower case, as headers are named here. */
export const idempotencyKeyHeader = "idempotency-key"

export const EventCreated = EventReceipt.pipe(Schema.encodeKeys({ id: "event_id", receivedAt: "received_at" }))

export const EventSummaryOnWire = EventSummary.pipe(
  Schema.encodeKeys({
    id: "event_id",
    receivedAt: "received_at",
    fingerprintId: "fingerprint_id",
    agentVersion: "agent_version",
    occurredAt: "occurred_at",
    durationMs: "duration_ms",
    inputTokens: "input_tokens",
    outputTokens: "output_tokens",
    stopReason: "stop_reason",
    inputsBytes: "inputs_bytes",
    outputBytes: "output_bytes"
  })
)

/** Answered as text: `inputs` and `output` are spliced in as they were sent. */
export const EventOnWire = Schema.Struct({
  event_id: Schema.String,
  received_at: Schema.String,
  event_name: Schema.Literal("llm"),
  properties: Schema.Struct({ api: Api, inputs: JsonObject, output: JsonObject }),
  fingerprint_id: Schema.String,
  agent: Schema.String,
  agent_version: Schema.String,
  person: Schema.NullOr(Schema.String),
  session: Schema.String,
  occurred_at: Schema.NullOr(Schema.String),
  duration_ms: Schema.NullOr(Schema.Number)
}).annotate({ identifier: "Event" })

export const defaultLimit = 100

/** Opaque to clients: what `next_cursor` said, to be handed back with the same filters and order. */
export const Cursor = Schema.String.pipe(
  Schema.decodeTo(
    EventId,
    SchemaTransformation.transformEffect({
      decode: (text: string, options) =>
        Option.match(decodeCursor(text), {
          onNone: () => Effect.fail(Violation.issue(Violation.valueError("not a cursor of ours"), text, options)),
          onSome: Effect.succeed
        }),
      encode: (id: string) => Effect.succeed(encodeCursor(id))
    })
  )
)

const cursorPrefix = "c1_"
export const encodeCursor = (id: string): string => cursorPrefix + id.replaceAll("-", "")
const decodeCursor = (text: string): Option.Option<string> =>
  /^c1_[0-9a-f]{32}$/.test(text) ? Option.some(text.slice(cursorPrefix.length)) : Option.none()

export class Events extends HttpApiGroup.make("events").add(
  HttpApiEndpoint.post("createEvent", "/events", {
    headers: { [idempotencyKeyHeader]: Schema.optionalKey(IdempotencyKey) },
    payload: CreateEvent,
    success: EventCreated,
    error: [FingerprintNotFound, SessionIdEmpty, IdempotencyKeyReused, ...bodyErrors]
  })
    .annotate(AllowedScopes, writing)
    .annotate(OpenApi.Summary, "Record a model call"),
  HttpApiEndpoint.get("listEvents", "/events", {
    query: {
      session: Schema.optionalKey(SessionId),
      agent: Schema.optionalKey(AgentName),
      agent_version: Schema.optionalKey(AgentVersionName),
      person: Schema.optionalKey(PersonId),
      limit: Schema.optionalKey(Limit),
      cursor: Schema.optionalKey(Cursor),
      order: Schema.optionalKey(Schema.Literals(["asc", "desc"]))
    },
    success: Schema.Struct({
      events: Schema.Array(EventSummaryOnWire),
      next_cursor: Schema.NullOr(Schema.String)
    }).annotate({ identifier: "EventPage" })
  })
    .annotate(AllowedScopes, readingOnly)
    .annotate(OpenApi.Summary, "List events, without their payloads"),
  HttpApiEndpoint.get("getEvent", "/events/:event_id", {
    params: { event_id: EventId },
    success: EventOnWire,
    error: EventNotFound
  })
    .annotate(AllowedScopes, readingOnly)
    .annotate(OpenApi.Summary, "Read an event, its payloads as they were sent")
) {}
