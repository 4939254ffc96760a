import { Agent, AgentName } from "@tachograph/core/domain/Agent"
import * as Schema from "effect/Schema"
import * as Struct from "effect/Struct"
import { HttpApiEndpoint, HttpApiGroup, OpenApi } from "effect/http-api"
import * as Cursor from "../Cursor.ts"
import { AgentNotFound, bodyErrors } from "../Errors.ts"
import { optional } from "../Json.ts"
import * as Page from "../Page.ts"
import { snakeKeys } from "../WireNames.ts"

const agentFields = Struct.omit(Agent.fields, ["isNamedOnly"])

export const AgentOnWire = Schema.Struct(agentFields)
  .pipe(Schema.encodeKeys({ ...snakeKeys(agentFields), name: "agent_name", number: "agent_number" }))
  .annotate({ identifier: "Agent" })

export const CreateAgent = Schema.Struct({
  agent_name: AgentName,
  description: optional(Schema.String)
})

export const cursor = Cursor.ofNumber

export class Agents extends HttpApiGroup.make("agents").add(
  HttpApiEndpoint.put("createAgent", "/agents", {
    payload: CreateAgent,
    success: AgentOnWire,
    error: bodyErrors
  }).annotate(OpenApi.Summary, "Create an agent"),
  HttpApiEndpoint.get("listAgents", "/agents", {
    query: Page.query(cursor),
    success: Page.of("AgentPage", "agents", AgentOnWire, cursor)
  }).annotate(OpenApi.Summary, "List agents in the order of their numbers"),
  HttpApiEndpoint.get("getAgent", "/agents/:agent_name", {
    params: { agent_name: AgentName },
    success: AgentOnWire,
    error: AgentNotFound
  }).annotate(OpenApi.Summary, "Read an agent")
) {}
