import { type Errors, Storage } from "@tachograph/core"
import * as Effect from "effect/Effect"
import packageJson from "../../package.json" with { type: "json" }
import * as Operation from "./Operation.ts"
import * as Answer from "../response/Answer.ts"
import { MetricsText } from "../response/MetricsText.ts"

const ok = { status: "ok" } as const
const healthy = { ...ok, version: packageJson.version }

/** The text format of Prometheus. */
const metricsType = "text/plain; version=0.0.4; charset=utf-8"

/** `ping` checks the storage. */
export const make = (ping: Effect.Effect<void, Errors.StorageUnavailable>) =>
  Effect.map(MetricsText, (metricsText) =>
    Operation.group("system", {
      health: () => Effect.succeed(healthy),
      ready: () => Effect.as(ping, ok),
      metrics: () => Effect.map(metricsText, (text) => new Operation.Encoded(Answer.text(text, metricsType)))
    })
  )

export const operations = Effect.flatMap(Storage, ({ ping }) => make(ping))
