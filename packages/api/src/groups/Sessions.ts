import { AgentName } from "@tachograph/core/domain/Agent"
import { AgentVersionName } from "@tachograph/core/domain/AgentVersion"
import { ErasureReceipt } from "@tachograph/core/domain/ErasureReceipt"
import { EventId, EventSummary } from "@tachograph/core/domain/Event"
import { Name } from "@tachograph/core/domain/Name"
import { PersonId } from "@tachograph/core/domain/Person"
import { SessionId } from "@tachograph/core/domain/Session"
import { maxRecentSessions, SessionSummary } from "@tachograph/core/domain/SessionSummary"
import { stepFields } from "@tachograph/core/domain/Step"
import { SpanId, TraceId } from "@tachograph/core/domain/Trace"
import * as Schema from "effect/Schema"
import { HttpApiEndpoint, HttpApiGroup, OpenApi } from "effect/http-api"
import * as Cursor from "../Cursor.ts"
import { EventDamaged, EventNotFound, SessionNotFound } from "../Errors.ts"
import { JsonObject, MessagePart } from "../Json.ts"
import { wholeNumber } from "../Limit.ts"
import * as Page from "../Page.ts"
import * as Sorted from "../Sorted.ts"
import { snakeKeys } from "../WireNames.ts"

/** Numbers of messages and of calls have 31 bits, like the columns of all numbers. */
const maxNumber = 2 ** 31 - 1

const MessageNumber = Schema.Int.annotate({ description: "The number of a message of the session, from 1" })

/** A message in normal form, with what else the provider's message holds. Written as text, with numbers as they were sent. */
const SessionMessageOnWire = Schema.StructWithRest(
  Schema.Struct({
    number: MessageNumber,
    /** The call that carried it first. */
    event_id: EventId,
    /** When that call happened, or was recorded. */
    at: Schema.DateTimeUtcFromString,
    from: Schema.Literals(["input", "output"]),
    role: Schema.String,
    parts: Schema.Array(MessagePart),
    /** Its JSON text as it was sent, if it was asked for. Null where no value of the call is the message alone. */
    verbatim: Schema.optionalKey(Schema.NullOr(Schema.String)),
    /** Which of its parts are instructions, from 0. Left out where none is. */
    instruction_parts: Schema.optionalKey(Schema.Array(Schema.Int)),
    /** True if it cannot be read. It has no parts then. */
    is_damaged: Schema.optionalKey(Schema.Literal(true))
  }),
  [Schema.Record(Schema.String, Schema.Any)]
).annotate({ identifier: "SessionMessage" })

const inputPriceFields = {
  input: Schema.Finite,
  /** Null where the list has no price for it. */
  cacheRead: Schema.NullOr(Schema.Finite),
  /** For five minutes. */
  cacheWrite: Schema.Finite
}

/** What a million tokens of a call's input cost by the list, in US dollars. */
const InputPrices = Schema.Struct(inputPriceFields)
  .pipe(Schema.encodeKeys({ input: "input_mtok", cacheRead: "cache_read_mtok", cacheWrite: "cache_write_mtok" }))
  .annotate({ identifier: "InputPrices" })

const sessionCallFields = {
  ...EventSummary.fields,
  parentEventId: Schema.NullOr(EventId),
  errorMessage: Schema.NullOr(Schema.String),
  retryOf: Schema.NullOr(EventId),
  retriedBy: Schema.NullOr(EventId),
  keptMessages: Schema.Int,
  newMessages: Schema.Array(MessageNumber),
  goneMessages: Schema.Array(MessageNumber),
  output: Schema.Array(MessageNumber),
  carried: Schema.Struct({
    kept: Schema.Int,
    runs: Schema.Array(Schema.Tuple([MessageNumber, MessageNumber]))
  }),
  instructionMessages: Schema.Array(MessageNumber),
  instructionCharacters: Schema.NullOr(Schema.Int),
  instructionsChanged: Schema.Boolean,
  toolsChanged: Schema.Boolean,
  parametersChanged: Schema.Boolean,
  inputPrices: Schema.NullOr(InputPrices),
  isDamaged: Schema.Boolean
}

/** A call, and how the conversation grew with it. `docs/conversations.md` says what the fields mean. */
export const SessionCallOnWire = Schema.Struct(sessionCallFields)
  .pipe(Schema.encodeKeys({ ...snakeKeys(sessionCallFields), id: "event_id" }))
  .annotate({ identifier: "SessionCall" })

const stepOnWireFields = {
  traceId: TraceId,
  spanId: SpanId,
  /** When it started. */
  occurredAt: Schema.DateTimeUtcFromString,
  receivedAt: Schema.DateTimeUtcFromString,
  agent: AgentName,
  agentVersion: AgentVersionName,
  person: Schema.NullOr(PersonId),
  ...stepFields,
  /** As they were recorded, byte for byte. */
  attributes: JsonObject
}

/** What an agent did between its calls: a tool that it ran, for example. Written as text. */
const StepOnWire = Schema.Struct(stepOnWireFields)
  .pipe(Schema.encodeKeys(snakeKeys(stepOnWireFields)))
  .annotate({ identifier: "Step" })

/** The cursor of steps. */
export const stepCursor = Cursor.ofStep

/** The cursor of messages and of calls. */
export const cursor = Cursor.ofNumber

export const SessionOnWire = SessionSummary.pipe(Schema.encodeKeys(snakeKeys(SessionSummary.fields))).annotate({
  identifier: "Session"
})

export const listCursor = Cursor.sortable(Cursor.ofSessions<EventId>(maxRecentSessions), Cursor.ofRank)

export class Sessions extends HttpApiGroup.make("sessions").add(
  HttpApiEndpoint.get("listSessions", "/sessions", {
    query: Schema.Struct({
      agent: Schema.optionalKey(AgentName),
      agent_version: Schema.optionalKey(AgentVersionName),
      person: Schema.optionalKey(PersonId),
      model: Schema.optionalKey(Name),
      error: Schema.optionalKey(Schema.Literals(["true", "false"])),
      ...Page.period,
      ...Page.query(listCursor),
      ...Sorted.query
    }).check(Sorted.cursorFits(listCursor)),
    success: Page.of("SessionPage", "sessions", SessionOnWire, listCursor)
  }).annotate(
    OpenApi.Summary,
    "List sessions by the times of their last calls, or sorted by what their calls add up to, with these sums"
  ),
  HttpApiEndpoint.get("getSession", "/sessions/:session", {
    params: { session: SessionId },
    success: SessionOnWire,
    error: SessionNotFound
  }).annotate(OpenApi.Summary, "Read what the calls of a session add up to"),
  HttpApiEndpoint.delete("eraseSession", "/sessions/:session", {
    params: { session: SessionId },
    success: ErasureReceipt,
    error: SessionNotFound
  }).annotate(OpenApi.Summary, "Erase a session, its events, and content that only those events hold"),
  HttpApiEndpoint.get("listSessionMessages", "/sessions/:session/messages", {
    params: { session: SessionId },
    query: {
      verbatim: Schema.optionalKey(Schema.Literals(["true", "false"])),
      after_number: Schema.optionalKey(wholeNumber(0, maxNumber)),
      ...Page.query(cursor),
      order: Sorted.Order
    },
    success: Schema.Struct({
      messages: Schema.Array(SessionMessageOnWire),
      /** How many of the calls read for the page are damaged: their messages are left out, and the numbers of others may differ. */
      damaged_calls: Schema.Int,
      next_cursor: Schema.NullOr(cursor.schema)
    }).annotate({ identifier: "SessionMessagePage" }),
    error: SessionNotFound
  }).annotate(OpenApi.Summary, "Read the messages of a session, each once"),
  HttpApiEndpoint.get("listSessionCalls", "/sessions/:session/calls", {
    params: { session: SessionId },
    query: {
      after_event: Schema.optionalKey(EventId),
      ...Page.query(cursor),
      order: Sorted.Order
    },
    success: Page.of("SessionCallPage", "calls", SessionCallOnWire, cursor),
    error: [SessionNotFound, EventNotFound, EventDamaged]
  }).annotate(OpenApi.Summary, "List the calls of a session, and what each carried of its messages"),
  HttpApiEndpoint.get("listSessionSteps", "/sessions/:session/steps", {
    params: { session: SessionId },
    query: Page.query(stepCursor),
    success: Schema.Struct({
      steps: Schema.Array(StepOnWire),
      /** How many steps of the page are damaged, and left out. */
      damaged_steps: Schema.Int,
      next_cursor: Schema.NullOr(stepCursor.schema)
    }).annotate({ identifier: "StepPage" }),
    error: SessionNotFound
  }).annotate(OpenApi.Summary, "Read the steps of a session, such as tools that it ran, in the order of their starts")
) {}
