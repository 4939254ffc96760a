import { Failures } from "@tachograph/api"
import { Recorder } from "@tachograph/core"
import * as Effect from "effect/Effect"
import * as Operation from "./Operation.ts"
import * as PageQuery from "./PageQuery.ts"

export const operations = Effect.map(Recorder, (recorder) =>
  Operation.group("failures", {
    listFailures: ({ query }) =>
      Effect.map(
        recorder.listFailures({
          session: query.session,
          agent: query.agent,
          agentVersion: query.agent_version,
          person: query.person,
          fields: { failure: query.failure, model: query.model, api: query.api },
          from: query.after?.in(),
          to: query.before?.in(),
          ...PageQuery.of(query, Failures.cursor)
        }),
        ({ damagedEvents, events, failures, next }) => ({
          failures,
          events,
          damaged_events: damagedEvents,
          next_cursor: Failures.cursor.encode(next)
        })
      )
  })
)
