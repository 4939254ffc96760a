import { Recorder } from "@tachograph/core"
import { Effect } from "effect"
import * as Operation from "./Operation.ts"

export const operations = Effect.map(Recorder, (recorder) =>
  Operation.group("agents", {
    createAgent: ({ payload }) => recorder.createAgent(payload.agent_name, payload.description ?? ""),
    getAgent: ({ params }) => recorder.getAgent(params.agent_name)
  })
)
