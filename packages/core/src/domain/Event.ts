import * as Schema from "effect/Schema"
import { AgentName } from "./Agent.ts"
import { AgentVersionName } from "./AgentVersion.ts"
import { CallFacts } from "./CallFacts.ts"
import { FingerprintId } from "./Fingerprint.ts"
import { PersonId } from "./Person.ts"
import * as ProviderNames from "./ProviderNames.ts"
import type * as JsonText from "./JsonText.ts"
import { Recorded } from "./Recorded.ts"
import { SessionId } from "./Session.ts"
import { SpanId, TraceId } from "./Trace.ts"
import { Uuid } from "./Uuid.ts"

/** A UUIDv7, so that ids sort by the time of recording. */
export const EventId = Uuid.pipe(Schema.brand("EventId"))
export type EventId = typeof EventId.Type

export const Api = Schema.Literals(ProviderNames.apis)
export type Api = typeof Api.Type

/** The fields that a client sends with a call, beside its payload. */
export const callFields = {
  api: Api,
  fingerprintId: FingerprintId,
  agent: AgentName,
  agentVersion: AgentVersionName,
  person: Schema.NullOr(PersonId),
  session: SessionId,
  occurredAt: Schema.NullOr(Schema.DateTimeUtcFromString),
  /** Duration of the call in milliseconds, as the client reports it. */
  durationMs: Schema.NullOr(Schema.Finite),
  /** Time to the first token of a stream in milliseconds, as the client reports it. */
  firstTokenMs: Schema.NullOr(Schema.Finite),
  /** The status of the provider's response. */
  httpStatus: Schema.NullOr(Schema.Int),
  /** The client's trace and span, of W3C Trace Context. */
  traceId: Schema.NullOr(TraceId),
  spanId: Schema.NullOr(SpanId),
  /** What the client or the proxy says of the event. */
  recorded: Schema.NullOr(Recorded)
}
export type CallFields = Pick<EventSummary, keyof typeof callFields>

/** An event without its payload, as in lists. Sizes are bytes of UTF-8, as sent. */
export class EventSummary extends Schema.Class<EventSummary>("EventSummary")({
  id: EventId,
  receivedAt: Schema.DateTimeUtcFromString,
  ...callFields,
  ...CallFacts.fields,
  inputsBytes: Schema.Int,
  outputBytes: Schema.Int
}) {}

/** The two texts of a model call, byte for byte as they were sent: JSON in UTF-8. */
export interface Payload {
  readonly inputs: Uint8Array
  readonly output: Uint8Array
}

export interface Event extends EventSummary {
  readonly payload: Payload
  /** The text of a JSON object, as it was sent. Lists do not have it. */
  readonly metadata: JsonText.JsonText | null
}

/** The largest metadata of an event, in bytes of UTF-8 as sent. */
export const maxMetadataBytes = 16 * 1024

/** The result of Create Event. The event is committed. */
export class EventReceipt extends Schema.Class<EventReceipt>("EventReceipt")({
  id: EventId,
  receivedAt: Schema.DateTimeUtcFromString
}) {}
