import { TachographApi } from "@tachograph/api"
import { Storage } from "@tachograph/core"
import { Effect } from "effect"
import { HttpApiBuilder } from "effect/http-api"
import { MetricsText } from "../response/MetricsText.ts"
import * as OutageLog from "../response/OutageLog.ts"

const ok = { status: "ok" } as const

export const layer = HttpApiBuilder.group(
  TachographApi,
  "system",
  Effect.fn(function* (handlers) {
    const storage = yield* Storage
    const metricsText = yield* MetricsText
    return handlers
      .handle("health", () => Effect.succeed(ok))
      .handle("ready", () => OutageLog.log(Effect.as(storage.ping, ok)))
      .handle("metrics", () => metricsText)
  })
)
