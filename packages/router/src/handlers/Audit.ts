import { Audit } from "@tachograph/api"
import { Recorder } from "@tachograph/core"
import * as Effect from "effect/Effect"
import * as Operation from "./Operation.ts"
import * as PageQuery from "./PageQuery.ts"

export const operations = Effect.map(Recorder, (recorder) =>
  Operation.group("audit", {
    listAudit: ({ query }) =>
      Effect.map(
        recorder.listAudit({ from: query.after?.in(), to: query.before?.in(), ...PageQuery.of(query, Audit.cursor) }),
        ({ next, rows }) => ({ entries: rows, next_cursor: Audit.cursor.encode(next) })
      )
  })
)
