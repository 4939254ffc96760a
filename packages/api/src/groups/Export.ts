/** All that a project has, as lines of JSON, and back. `docs/export.md` has their shapes. */
import { AgentName } from "@tachograph/core/domain/Agent"
import { AgentVersionName } from "@tachograph/core/domain/AgentVersion"
import { EventId, EventReceipt, callFields } from "@tachograph/core/domain/Event"
import { FingerprintId } from "@tachograph/core/domain/Fingerprint"
import { PersonId } from "@tachograph/core/domain/Person"
import { SessionId } from "@tachograph/core/domain/Session"
import { stepFields } from "@tachograph/core/domain/Step"
import { SpanId, TraceId } from "@tachograph/core/domain/Trace"
import * as Violation from "@tachograph/core/domain/Violation"
import * as Schema from "effect/Schema"
import { HttpApiEndpoint, HttpApiGroup, OpenApi } from "effect/http-api"
import { Overloaded, bodyErrors } from "../Errors.ts"
import { Instant } from "../Instant.ts"
import { JsonObject, optional } from "../Json.ts"
import { wholeNumber } from "../Limit.ts"
import { Lines } from "../Lines.ts"
import { snakeKeys } from "../WireNames.ts"
import { CreateAgent } from "./Agents.ts"
import { CreateAgentVersion } from "./AgentVersions.ts"
import { filters } from "./Events.ts"
import { CreateFingerprint } from "./Fingerprints.ts"
import { CreatePerson } from "./People.ts"

/** CRC-32, as eight hexadecimal digits. */
const Checksum = Schema.String.check(
  Violation.check((text) =>
    /^[0-9a-f]{8}$/.test(text) ? undefined : Violation.valueError("expected eight hexadecimal digits in lower case")
  )
)

/** What an event was sent with, beside its payload, and what it got then. */
export const ExportedFields = Schema.Struct({ ...EventReceipt.fields, ...callFields }).pipe(
  Schema.encodeKeys({ ...snakeKeys(EventReceipt.fields), ...snakeKeys(callFields), id: "event_id" })
)

/** Beside the body of an event, in a line of one. */
export const ImportedEvent = Schema.Struct({
  event_id: EventId,
  received_at: Instant,
  checksum: Schema.optionalKey(Checksum)
})

const { durationMs, kind, message, name, parentSpanId, recorded, status } = stepFields

export const ImportedSteps = Schema.Struct({
  session: SessionId,
  agent: optional(AgentName),
  agent_version: optional(AgentVersionName),
  person: optional(PersonId),
  received_at: Instant,
  checksum: Schema.optionalKey(Checksum),
  steps: Schema.Array(
    Schema.Struct({
      ...{ trace_id: TraceId, span_id: SpanId, occurred_at: Instant },
      ...{ parent_span_id: Schema.optionalKey(parentSpanId), name, kind, duration_ms: Schema.optionalKey(durationMs) },
      ...{ status, message: Schema.optionalKey(message), recorded: Schema.optionalKey(recorded) },
      attributes: optional(JsonObject),
      attributes_text: optional(Schema.String)
    })
  )
})

export const ImportedAgent = Schema.Struct({ ...CreateAgent.fields, created_at: Instant })

export const ImportedAgentVersion = Schema.Struct({
  agent_name: AgentName,
  ...CreateAgentVersion.fields,
  created_at: Instant,
  deprecated_at: optional(Instant)
})

export const ImportedPerson = Schema.Struct({
  ...CreatePerson.fields,
  properties_text: optional(Schema.String),
  created_at: Instant
})

export const ImportedFingerprint = Schema.Struct({
  ...CreateFingerprint.fields,
  fingerprint_id: FingerprintId,
  created_at: Instant
})

export class Export extends HttpApiGroup.make("export").add(
  HttpApiEndpoint.get("export", "/export", {
    query: {
      ...filters,
      after_event: Schema.optionalKey(EventId),
      /** Events at most, without a bound of its own. */
      limit: Schema.optionalKey(wholeNumber(1))
    },
    success: Lines,
    error: Overloaded
  }).annotate(OpenApi.Summary, "Export events whole, with all that they name, as lines of JSON"),
  HttpApiEndpoint.post("import", "/import", {
    query: { answers: Schema.optionalKey(Schema.Literals(["all", "failed"])) },
    payload: Lines,
    success: Lines,
    error: [Overloaded, ...bodyErrors]
  }).annotate(OpenApi.Summary, "Import what was exported, with the same ids; each line is answered")
) {}
