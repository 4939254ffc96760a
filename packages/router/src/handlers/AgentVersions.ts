import { Recorder } from "@tachograph/core"
import { Effect } from "effect"
import * as Operation from "./Operation.ts"

export const operations = Effect.map(Recorder, (recorder) =>
  Operation.group("agentVersions", {
    createAgentVersion: ({ params, payload }) =>
      recorder.createAgentVersion(params.agent_name, payload.agent_version_name, payload.description ?? null),
    getAgentVersion: ({ params }) => recorder.getAgentVersion(params.agent_name, params.agent_version_name)
  })
)
