import { Failures } from "@tachograph/api"
import { Recorder } from "@tachograph/core"
import * as Effect from "effect/Effect"
import * as EventFilter from "./EventFilter.ts"
import * as Operation from "./Operation.ts"
import * as PageQuery from "./PageQuery.ts"

export const operations = Effect.map(Recorder, (recorder) =>
  Operation.group("failures", {
    listFailures: ({ query }) =>
      Effect.map(
        recorder.listFailures({
          ...EventFilter.of(query),
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
