import { AgentName } from "@tachograph/core/domain/Agent"
import { AgentVersion, AgentVersionName } from "@tachograph/core/domain/AgentVersion"
import { EventId } from "@tachograph/core/domain/Event"
import { FingerprintId } from "@tachograph/core/domain/Fingerprint"
import { sumFields } from "@tachograph/core/domain/Sums"
import * as Schema from "effect/Schema"
import * as Struct from "effect/Struct"
import { HttpApiEndpoint, HttpApiGroup, OpenApi } from "effect/http-api"
import * as Cursor from "../Cursor.ts"
import { AgentNotFound, AgentVersionNotFound, bodyErrors, EventDamaged } from "../Errors.ts"
import { JsonObject, MessagePart, optional } from "../Json.ts"
import * as Page from "../Page.ts"
import { snakeKeys } from "../WireNames.ts"

const versionFields = Struct.omit(AgentVersion.fields, ["isNamedOnly"])

export const AgentVersionOnWire = Schema.Struct(versionFields)
  .pipe(Schema.encodeKeys({ ...snakeKeys(versionFields), name: "agent_version_name", number: "agent_version_number" }))
  .annotate({ identifier: "AgentVersion" })

export const CreateAgentVersion = Schema.Struct({
  agent_version_name: AgentVersionName,
  description: optional(Schema.String)
})

export const cursor = Cursor.ofNumber

/** The cursor of configurations: the last call that was looked at. */
export const callCursor = Cursor.ofId<EventId>()

const DurationMs = Schema.NullOr(Schema.Finite)

const variantFields = {
  text: Schema.String,
  lastUsedAt: Schema.DateTimeUtcFromString,
  firstEventId: EventId,
  events: sumFields.events,
  costUsd: sumFields.costUsd
}

/** Where the instructions of a configuration's calls differ, and what some of them have there. */
const ConfigurationVariants = Schema.Struct({
  count: Schema.Int,
  /** The part of the instructions, from 1. */
  part: Schema.Int,
  /** Its first character that differs, from 1. */
  character: Schema.Int,
  /** The latest first. */
  latest: Schema.Array(
    Schema.Struct(variantFields)
      .pipe(Schema.encodeKeys(snakeKeys(variantFields)))
      .annotate({ identifier: "ConfigurationVariant" })
  )
}).annotate({ identifier: "ConfigurationVariants" })

const configurationFields = {
  model: Schema.NullOr(Schema.String),
  parameters: JsonObject,
  /** Those that stand apart, and those at the beginning of the messages. */
  instructions: Schema.Array(MessagePart),
  tools: Schema.Array(JsonObject),
  fingerprintId: FingerprintId,
  firstUsedAt: Schema.DateTimeUtcFromString,
  lastUsedAt: Schema.DateTimeUtcFromString,
  firstEventId: EventId,
  ...sumFields,
  durationMsP50: DurationMs,
  durationMsP95: DurationMs,
  durationMsP99: DurationMs,
  variants: Schema.NullOr(ConfigurationVariants),
  isDamaged: Schema.Boolean
}

/** What calls of an agent version had beside their conversations, and what they add up to. */
export const ConfigurationOnWire = Schema.Struct(configurationFields)
  .pipe(Schema.encodeKeys(snakeKeys(configurationFields)))
  .annotate({ identifier: "Configuration" })

/** The fields but `instructions`, `tools` and `parameters`, which are written as text. */
const { instructions: _instructions, parameters: _parameters, tools: _tools, ...encodedFields } = configurationFields
export const ConfigurationUse = Schema.Struct(encodedFields).pipe(Schema.encodeKeys(snakeKeys(encodedFields)))

export class AgentVersions extends HttpApiGroup.make("agentVersions").add(
  HttpApiEndpoint.put("createAgentVersion", "/agents/:agent_name/agent-versions", {
    params: { agent_name: AgentName },
    payload: CreateAgentVersion,
    success: AgentVersionOnWire,
    error: [AgentNotFound, ...bodyErrors]
  }).annotate(OpenApi.Summary, "Create a version of an agent"),
  HttpApiEndpoint.get("listAgentVersions", "/agents/:agent_name/agent-versions", {
    params: { agent_name: AgentName },
    query: Page.query(cursor),
    success: Page.of("AgentVersionPage", "agent_versions", AgentVersionOnWire, cursor),
    error: AgentNotFound
  }).annotate(OpenApi.Summary, "List the versions of an agent in the order of their numbers"),
  HttpApiEndpoint.get("getAgentVersion", "/agents/:agent_name/agent-versions/:agent_version_name", {
    params: { agent_name: AgentName, agent_version_name: AgentVersionName },
    success: AgentVersionOnWire,
    error: [AgentNotFound, AgentVersionNotFound]
  }).annotate(OpenApi.Summary, "Read a version of an agent"),
  HttpApiEndpoint.get("listConfigurations", "/agents/:agent_name/agent-versions/:agent_version_name/configurations", {
    params: { agent_name: AgentName, agent_version_name: AgentVersionName },
    query: {
      ...Page.period,
      ...Page.query(callCursor)
    },
    success: Page.of("ConfigurationPage", "configurations", ConfigurationOnWire, callCursor),
    error: [AgentNotFound, AgentVersionNotFound, EventDamaged]
  }).annotate(OpenApi.Summary, "List what a version of an agent ran with, and what the calls add up to"),
  HttpApiEndpoint.post("deprecateAgentVersion", "/agents/:agent_name/agent-versions/:agent_version_name/deprecate", {
    params: { agent_name: AgentName, agent_version_name: AgentVersionName },
    success: AgentVersionOnWire,
    error: [AgentNotFound, AgentVersionNotFound]
  }).annotate(OpenApi.Summary, "Deprecate a version of an agent; a second time changes nothing")
) {}
