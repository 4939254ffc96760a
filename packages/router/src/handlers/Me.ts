import { Recorder, Retention } from "@tachograph/core"
import { Duration, Effect } from "effect"
import packageJson from "../../package.json" with { type: "json" }
import * as Operation from "./Operation.ts"

const { version } = packageJson

export const operations = Effect.gen(function* () {
  const keptFor = yield* Retention.KeptFor
  const { prices } = yield* Recorder
  return Operation.group("me", {
    getMe: ({ exchange: { project, scopes } }) =>
      Effect.succeed({
        project,
        scopes,
        version,
        retention_ms: keptFor === undefined ? null : Duration.toMillis(keptFor),
        prices
      })
  })
})
