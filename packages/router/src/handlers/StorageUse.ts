import { StorageUse, TachographApi } from "@tachograph/api"
import { Recorder } from "@tachograph/core"
import { Effect } from "effect"
import { HttpApiBuilder } from "effect/http-api"

export const layer = HttpApiBuilder.group(
  TachographApi,
  "storage",
  Effect.fn(function* (handlers) {
    const recorder = yield* Recorder
    return handlers.handle("readStorage", ({ query }) =>
      recorder.storageUsage(query.sessions ?? StorageUse.defaultSessions)
    )
  })
)
