import { AgentName } from "@tachograph/core/domain/Agent"
import { AgentVersionName } from "@tachograph/core/domain/AgentVersion"
import { type CallFields, EventId, EventReceipt, EventSummary, callFields } from "@tachograph/core/domain/Event"
import { ErasureReceipt } from "@tachograph/core/domain/ErasureReceipt"
import { CallFacts } from "@tachograph/core/domain/CallFacts"
import { FailureName } from "@tachograph/core/domain/Failure"
import { FingerprintId } from "@tachograph/core/domain/Fingerprint"
import { IdempotencyKey } from "@tachograph/core/domain/IdempotencyKey"
import { Name } from "@tachograph/core/domain/Name"
import { PersonId } from "@tachograph/core/domain/Person"
import { Recorded } from "@tachograph/core/domain/Recorded"
import { SessionId } from "@tachograph/core/domain/Session"
import { SpanId, TraceId } from "@tachograph/core/domain/Trace"
import * as Violation from "@tachograph/core/domain/Violation"
import * as Schema from "effect/Schema"
import { HttpApiEndpoint, HttpApiGroup, OpenApi } from "effect/http-api"
import { ApiOrAlias } from "../Api.ts"
import * as Cursor from "../Cursor.ts"
import {
  EventDamaged,
  EventNotFound,
  FingerprintNotFound,
  IdempotencyKeyReused,
  Overloaded,
  SessionIdEmpty,
  bodyErrors
} from "../Errors.ts"
import { Instant } from "../Instant.ts"
import { JsonObject, MessagePart, optional } from "../Json.ts"
import { wholeNumber } from "../Limit.ts"
import { Lines } from "../Lines.ts"
import { MomentInQuery } from "../Moment.ts"
import * as Page from "../Page.ts"
import * as Sorted from "../Sorted.ts"
import { type SnakeCase, snakeKeys } from "../WireNames.ts"

const DurationMs = Schema.Number.check(
  Violation.check((value) => {
    if (!Number.isFinite(value)) return { type: "finite_number", msg: "Input should be a finite number" }
    return value < 0 ? Violation.greaterThanEqual(0) : undefined
  })
)

const HttpStatus = Schema.Number.pipe(
  Violation.annotate({ type: "int_type", msg: "Input should be a valid integer" })
).check(
  Violation.check((value) => {
    if (!Number.isInteger(value)) {
      return { type: "int_from_float", msg: "Input should be a valid integer, got a number with a fractional part" }
    }
    if (value < 100) return Violation.greaterThanEqual(100)
    return value > 599 ? Violation.lessThanEqual(599) : undefined
  })
)

/** The fields of a call as clients send them; `api` is part of `properties`. */
const sentFields = {
  fingerprint_id: FingerprintId,
  agent: optional(AgentName),
  agent_version: optional(AgentVersionName),
  person: optional(PersonId),
  session: SessionId,
  occurred_at: optional(Instant),
  duration_ms: optional(DurationMs),
  first_token_ms: optional(DurationMs),
  http_status: optional(HttpStatus),
  trace_id: optional(TraceId),
  span_id: optional(SpanId),
  recorded: optional(Recorded)
} satisfies Readonly<Record<SnakeCase<Exclude<keyof CallFields, "api">>, Schema.Top>>

export const CreateEvent = Schema.Struct({
  event_name: Schema.Literal("llm"),
  properties: Schema.Struct({ api: ApiOrAlias, inputs: JsonObject, output: JsonObject }),
  ...sentFields,
  /** The model that was asked for where `inputs` do not name it: some providers take it in the URL. */
  model: optional(Name),
  /** At most 16 KiB of JSON; kept as it was sent. */
  metadata: optional(JsonObject)
})

/** In lower case, like all names of headers in this code. */
export const idempotencyKeyHeader = "idempotency-key"

/** A line of a batch, beside the fields of `CreateEvent`. */
export const BatchFields = Schema.Struct({ idempotency_key: optional(IdempotencyKey) })

export const EventCreated = EventReceipt.pipe(Schema.encodeKeys({ ...snakeKeys(EventReceipt.fields), id: "event_id" }))

export const EventSummaryOnWire = EventSummary.pipe(
  Schema.encodeKeys({ ...snakeKeys(EventSummary.fields), id: "event_id" })
)

const listedFields = {
  ...EventSummary.fields,
  /** The call that tried it again, with `retried`. */
  retriedBy: Schema.optionalKey(EventId)
}

const ListedEvent = Schema.Struct(listedFields)
  .pipe(Schema.encodeKeys({ ...snakeKeys(listedFields), id: "event_id" }))
  .annotate({ identifier: "ListedEvent" })

/** The names of an event's fields but its payload. */
export const envelopeKeys = {
  ...snakeKeys(EventReceipt.fields),
  ...snakeKeys(callFields),
  ...snakeKeys(CallFacts.fields),
  id: "event_id"
} as const

/** An event's fields but its payload. */
export const EventEnvelope = Schema.Struct({ ...EventReceipt.fields, ...callFields, ...CallFacts.fields }).pipe(
  Schema.encodeKeys(envelopeKeys)
)

const { api, event_id, received_at, ...call } = EventEnvelope.from.fields

/** The response is built as text: `inputs`, `output` and `metadata` are the texts that were sent. */
export const EventOnWire = Schema.Struct({
  event_id,
  received_at,
  event_name: Schema.Literal("llm"),
  properties: Schema.Struct({ api, inputs: JsonObject, output: JsonObject }),
  ...call,
  metadata: Schema.NullOr(JsonObject)
}).annotate({ identifier: "Event" })

/** A message in normal form, with what else the provider's message holds. */
const Message = Schema.StructWithRest(Schema.Struct({ role: Schema.String, parts: Schema.Array(MessagePart) }), [
  Schema.Record(Schema.String, Schema.Any)
]).annotate({ identifier: "Message" })

/** A call in one form for all providers: messages of the OpenTelemetry semantic conventions for generative AI. */
export const ConversationOnWire = Schema.Struct({
  event_id,
  /** Instructions that stand apart from the messages. */
  instructions: Schema.Array(MessagePart),
  /** How many messages at the beginning of `input` are instructions too: those of system and developer. */
  leading_instructions: Schema.Int,
  tools: Schema.Array(JsonObject),
  /** What else the request holds. */
  parameters: JsonObject,
  input: Schema.Array(Message),
  /** One message for each choice or candidate. */
  output: Schema.Array(Message)
}).annotate({ identifier: "Conversation" })

/** The query parameters by which events are chosen. All that are given must match. */
export const filters = {
  session: Schema.optionalKey(SessionId),
  agent: Schema.optionalKey(AgentName),
  agent_version: Schema.optionalKey(AgentVersionName),
  person: Schema.optionalKey(PersonId),
  fingerprint: Schema.optionalKey(FingerprintId),
  api: Schema.optionalKey(ApiOrAlias),
  model: Schema.optionalKey(Name),
  stop_reason: Schema.optionalKey(Name),
  error: Schema.optionalKey(Schema.Literals(["true", "false"])),
  /** Failed alike: the `failure` of the list of failures. */
  failure: Schema.optionalKey(FailureName),
  trace_id: Schema.optionalKey(TraceId),
  /** By the time of the call: `occurred_at`, else `received_at`. */
  ...Page.period,
  received_after: Schema.optionalKey(MomentInQuery),
  received_before: Schema.optionalKey(MomentInQuery)
}

export const cursor = Cursor.ofId<EventId>()

/** Where one has come to who follows events. The recorder gives at most 16 events before their turn. */
export const position = Cursor.ofPosition<EventId>(16)

/** The longest that an answer waits for events (seconds). */
export const maxWait = 30

/** The header of a stream with the cursor that it begins at: for a client that is cut before the first line. */
export const cursorHeader = "tachograph-cursor"

export const listCursor = Cursor.sortable(cursor, Cursor.ofEventRank<EventId>())

/** Calls that were tried again are calls that failed, in the order of recording. */
const retriedFits = Violation.check<{
  readonly retried?: string
  readonly sort?: string
  readonly error?: string
}>((query) => {
  if (query.retried === undefined) return undefined
  if ((query.sort ?? "last") !== "last") return Violation.valueError("calls that were tried again have no sort")
  return query.error === "false" ? Violation.valueError("calls that did not fail were not tried again") : undefined
})

export class Events extends HttpApiGroup.make("events").add(
  HttpApiEndpoint.post("createEvent", "/events", {
    headers: { [idempotencyKeyHeader]: Schema.optionalKey(IdempotencyKey) },
    payload: CreateEvent,
    success: EventCreated,
    error: [FingerprintNotFound, SessionIdEmpty, IdempotencyKeyReused, ...bodyErrors]
  }).annotate(OpenApi.Summary, "Record a model call"),
  HttpApiEndpoint.post("createEvents", "/events/batch", {
    payload: Lines,
    success: Lines,
    error: [Overloaded, ...bodyErrors]
  }).annotate(OpenApi.Summary, "Record many model calls, each a line of JSON, and each answered by a line"),
  HttpApiEndpoint.get("listEvents", "/events", {
    query: Schema.Struct({
      ...filters,
      /** Only calls that failed and were tried again. */
      retried: Schema.optionalKey(Schema.Literal("true")),
      after_event: Schema.optionalKey(EventId),
      before_event: Schema.optionalKey(EventId),
      ...Page.query(listCursor),
      sort: Sorted.CallSort,
      order: Sorted.Order
    }).check(Sorted.cursorFits(listCursor), retriedFits),
    success: Page.of("EventPage", "events", ListedEvent, listCursor),
    error: EventDamaged
  }).annotate(OpenApi.Summary, "List events without their payloads, in the order of recording or sorted by a figure"),
  HttpApiEndpoint.get("streamEvents", "/events/stream", {
    query: {
      ...filters,
      cursor: Schema.optionalKey(position.schema),
      wait: Schema.optionalKey(wholeNumber(0, maxWait))
    },
    success: [
      Schema.Struct({
        events: Schema.Array(EventSummaryOnWire),
        next_cursor: position.schema
      }).annotate({ identifier: "NewEvents" }),
      Lines
    ],
    error: Overloaded
  }).annotate(OpenApi.Summary, "Follow events as they are recorded, as lines of JSON, or wait for some"),
  HttpApiEndpoint.get("getEvent", "/events/:event_id", {
    params: { event_id: EventId },
    success: EventOnWire,
    error: [EventNotFound, EventDamaged]
  }).annotate(OpenApi.Summary, "Read an event, with its payload as it was sent"),
  HttpApiEndpoint.get("getEventMessages", "/events/:event_id/messages", {
    params: { event_id: EventId },
    success: ConversationOnWire,
    error: [EventNotFound, EventDamaged]
  }).annotate(OpenApi.Summary, "Read a call in normal form: its messages, instructions, tools and parameters"),
  HttpApiEndpoint.get("getEventInputs", "/events/:event_id/inputs", {
    params: { event_id: EventId },
    success: JsonObject.annotate({ identifier: "EventInputs" }),
    error: [EventNotFound, EventDamaged]
  }).annotate(
    OpenApi.Summary,
    "Read the inputs of an event byte for byte, or a `Range` of them; 304 if `If-None-Match` has the `ETag`"
  ),
  HttpApiEndpoint.get("getEventOutput", "/events/:event_id/output", {
    params: { event_id: EventId },
    success: JsonObject.annotate({ identifier: "EventOutput" }),
    error: [EventNotFound, EventDamaged]
  }).annotate(
    OpenApi.Summary,
    "Read the output of an event byte for byte, or a `Range` of it; 304 if `If-None-Match` has the `ETag`"
  ),
  HttpApiEndpoint.delete("eraseEvent", "/events/:event_id", {
    params: { event_id: EventId },
    success: ErasureReceipt,
    error: EventNotFound
  }).annotate(OpenApi.Summary, "Erase an event, and content that only this event holds")
) {}
