import { Usage } from "@tachograph/api"
import { Recorder } from "@tachograph/core"
import * as Effect from "effect/Effect"
import * as Operation from "./Operation.ts"
import * as PageQuery from "./PageQuery.ts"

export const operations = Effect.map(Recorder, (recorder) =>
  Operation.group("usage", {
    readUsage: ({ query }) =>
      Effect.map(
        recorder.sumUsage({
          groupBy: query.group_by ?? [],
          timeZone: query.time_zone ?? "UTC",
          agent: query.agent,
          agentVersion: query.agent_version,
          person: query.person,
          model: query.model,
          api: query.api,
          from: query.after?.in(query.time_zone),
          to: query.before?.in(query.time_zone),
          ...{ sort: query.sort, order: query.order, hasTotal: query.cursor === undefined },
          ...PageQuery.of(query, Usage.cursor)
        }),
        ({ groups, next, total = null }) => ({ usage: groups, total, next_cursor: Usage.cursor.encode(next) })
      )
  })
)
