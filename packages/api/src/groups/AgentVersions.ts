import { AgentName } from "@tachograph/core/domain/Agent"
import { AgentVersion, AgentVersionName } from "@tachograph/core/domain/AgentVersion"
import { Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup, OpenApi } from "effect/http-api"
import { AllowedScopes, reading, readingOnly, writing } from "../Authorization.ts"
import * as Cursor from "../Cursor.ts"
import { AgentNotFound, AgentVersionNotFound, bodyErrors } from "../Errors.ts"
import { optional } from "../Json.ts"
import { Limit } from "../Limit.ts"
import { snakeKeys } from "../WireNames.ts"

export const AgentVersionOnWire = AgentVersion.pipe(
  Schema.encodeKeys({
    ...snakeKeys(AgentVersion.fields),
    name: "agent_version_name",
    number: "agent_version_number"
  })
)

export const CreateAgentVersion = Schema.Struct({
  agent_version_name: AgentVersionName,
  description: optional(Schema.String)
})

export const cursor = Cursor.ofNumber

export class AgentVersions extends HttpApiGroup.make("agentVersions").add(
  HttpApiEndpoint.put("createAgentVersion", "/agents/:agent_name/agent-versions", {
    params: { agent_name: AgentName },
    payload: CreateAgentVersion,
    success: AgentVersionOnWire,
    error: [AgentNotFound, ...bodyErrors]
  })
    .annotate(AllowedScopes, writing)
    .annotate(OpenApi.Summary, "Create a version of an agent"),
  HttpApiEndpoint.get("listAgentVersions", "/agents/:agent_name/agent-versions", {
    params: { agent_name: AgentName },
    query: { limit: Schema.optionalKey(Limit), cursor: Schema.optionalKey(cursor.schema) },
    success: Schema.Struct({
      agent_versions: Schema.Array(AgentVersionOnWire),
      next_cursor: Schema.NullOr(cursor.schema)
    }).annotate({ identifier: "AgentVersionPage" }),
    error: AgentNotFound
  })
    .annotate(AllowedScopes, readingOnly)
    .annotate(OpenApi.Summary, "List the versions of an agent in the order of their numbers"),
  HttpApiEndpoint.get("getAgentVersion", "/agents/:agent_name/agent-versions/:agent_version_name", {
    params: { agent_name: AgentName, agent_version_name: AgentVersionName },
    success: AgentVersionOnWire,
    error: [AgentNotFound, AgentVersionNotFound]
  })
    .annotate(AllowedScopes, reading)
    .annotate(OpenApi.Summary, "Read a version of an agent"),
  HttpApiEndpoint.post("deprecateAgentVersion", "/agents/:agent_name/agent-versions/:agent_version_name/deprecate", {
    params: { agent_name: AgentName, agent_version_name: AgentVersionName },
    success: AgentVersionOnWire,
    error: [AgentNotFound, AgentVersionNotFound]
  })
    .annotate(AllowedScopes, writing)
    .annotate(OpenApi.Summary, "Deprecate a version of an agent; a second time changes nothing")
) {}
