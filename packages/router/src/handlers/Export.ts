import { Recorder } from "@tachograph/core"
import * as Effect from "effect/Effect"
import * as Stream from "effect/Stream"
import { ReserveAnswer } from "../Engine.ts"
import * as ExportLines from "../transfer/ExportLines.ts"
import * as ImportLines from "../transfer/ImportLines.ts"
import * as EventFilter from "./EventFilter.ts"
import * as Operation from "./Operation.ts"

export const operations = Effect.gen(function* () {
  const recorder = yield* Recorder
  const importLines = ImportLines.make(recorder)
  return Operation.group("export", {
    export: Effect.fnUntraced(function* ({ query }) {
      const { after_event: after, limit } = query
      const items = yield* recorder.exportEvents({ ...EventFilter.of(query), after, limit }, yield* ReserveAnswer)
      return new Operation.Lines(Stream.flatMap(items, (group) => Stream.fromIterable(ExportLines.of(group))))
    }),
    import: ({ exchange, query }) =>
      Effect.succeed(new Operation.Lines(importLines(exchange.stream!, exchange, query.answers !== "failed")))
  })
})
