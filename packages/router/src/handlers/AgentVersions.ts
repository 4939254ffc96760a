import { AgentVersions } from "@tachograph/api"
import { Recorder } from "@tachograph/core"
import * as Effect from "effect/Effect"
import * as Configurations from "../response/Configurations.ts"
import * as Operation from "./Operation.ts"
import * as PageQuery from "./PageQuery.ts"

export const operations = Effect.map(Recorder, (recorder) =>
  Operation.group("agentVersions", {
    createAgentVersion: ({ params, payload }) =>
      recorder.createAgentVersion(params.agent_name, payload.agent_version_name, payload.description ?? null),
    listAgentVersions: ({ params, query }) =>
      Effect.map(
        recorder.listAgentVersions(params.agent_name, PageQuery.of(query, AgentVersions.cursor)),
        ({ next, rows }) => ({ agent_versions: rows, next_cursor: AgentVersions.cursor.encode(next) })
      ),
    getAgentVersion: ({ params }) => recorder.getAgentVersion(params.agent_name, params.agent_version_name),
    listConfigurations: ({ params, query }) =>
      Effect.map(
        recorder.listConfigurations({
          agent: params.agent_name,
          agentVersion: params.agent_version_name,
          from: query.after?.in(),
          to: query.before?.in(),
          ...PageQuery.of(query, AgentVersions.callCursor)
        }),
        ({ configurations, next }) =>
          new Operation.Encoded(Configurations.toAnswer(configurations, AgentVersions.callCursor.encode(next)))
      ),
    deprecateAgentVersion: ({ params }) => recorder.deprecateAgentVersion(params.agent_name, params.agent_version_name)
  })
)
