import { Storage } from "@tachograph/core"
import { Effect } from "effect"
import * as Operation from "./Operation.ts"
import * as Answer from "../response/Answer.ts"
import { MetricsText } from "../response/MetricsText.ts"

const ok = { status: "ok" } as const

/** The text format of Prometheus. */
const metricsType = "text/plain; version=0.0.4; charset=utf-8"

export const operations = Effect.gen(function* () {
  const storage = yield* Storage
  const metricsText = yield* MetricsText
  return Operation.group("system", {
    health: () => Effect.succeed(ok),
    ready: () => Effect.as(storage.ping, ok),
    metrics: () => Effect.map(metricsText, (text) => new Operation.Encoded(Answer.text(text, metricsType)))
  })
})
