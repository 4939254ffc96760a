import { Agents, TachographApi } from "@tachograph/api"
import { Recorder } from "@tachograph/core"
import { Effect } from "effect"
import { HttpApiBuilder } from "effect/http-api"
import * as RequestBody from "../front/RequestBody.ts"

const createAgentBody = RequestBody.decode(Agents.CreateAgent)

export const layer = HttpApiBuilder.group(
  TachographApi,
  "agents",
  Effect.fn(function* (handlers) {
    const recorder = yield* Recorder
    return handlers
      .handleRaw(
        "createAgent",
        Effect.fn("createAgent")(function* ({ request }) {
          const { value } = yield* createAgentBody(request)
          return yield* recorder.createAgent(value.agent_name, value.description ?? "")
        })
      )
      .handle("getAgent", ({ params }) => recorder.getAgent(params.agent_name))
  })
)
