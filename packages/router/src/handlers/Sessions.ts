import { TachographApi } from "@tachograph/api"
import { Recorder } from "@tachograph/core"
import { Effect } from "effect"
import { HttpApiBuilder } from "effect/http-api"

export const layer = HttpApiBuilder.group(
  TachographApi,
  "sessions",
  Effect.fn(function* (handlers) {
    const recorder = yield* Recorder
    return handlers.handle("eraseSession", ({ params }) => recorder.eraseSession(params.session))
  })
)
