import { AgentVersions, TachographApi } from "@tachograph/api"
import { Recorder } from "@tachograph/core"
import { Effect } from "effect"
import { HttpApiBuilder } from "effect/http-api"
import * as RequestBody from "../front/RequestBody.ts"

const createAgentVersionBody = RequestBody.decode(AgentVersions.CreateAgentVersion)

export const layer = HttpApiBuilder.group(
  TachographApi,
  "agentVersions",
  Effect.fn(function* (handlers) {
    const recorder = yield* Recorder
    return handlers
      .handleRaw(
        "createAgentVersion",
        Effect.fn("createAgentVersion")(function* ({ params, request }) {
          const { value } = yield* createAgentVersionBody(request)
          return yield* recorder.createAgentVersion(
            params.agent_name,
            value.agent_version_name,
            value.description ?? null
          )
        })
      )
      .handle("getAgentVersion", ({ params }) => recorder.getAgentVersion(params.agent_name, params.agent_version_name))
  })
)
