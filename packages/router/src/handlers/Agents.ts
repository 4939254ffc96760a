import { Agents } from "@tachograph/api"
import { Recorder } from "@tachograph/core"
import * as Effect from "effect/Effect"
import * as Operation from "./Operation.ts"
import * as PageQuery from "./PageQuery.ts"

export const operations = Effect.map(Recorder, (recorder) =>
  Operation.group("agents", {
    createAgent: ({ payload }) => recorder.createAgent(payload.agent_name, payload.description ?? ""),
    listAgents: ({ query }) =>
      Effect.map(recorder.listAgents(PageQuery.of(query, Agents.cursor)), ({ next, rows }) => ({
        agents: rows,
        next_cursor: Agents.cursor.encode(next)
      })),
    getAgent: ({ params }) => recorder.getAgent(params.agent_name)
  })
)
