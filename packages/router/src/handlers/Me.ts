import { Recorder, Retention, type Scope } from "@tachograph/core"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import packageJson from "../../package.json" with { type: "json" }
import { ProxyUpstreams } from "../Engine.ts"
import * as Operation from "./Operation.ts"

const { version } = packageJson

/** A key that only records does not learn how much there is. */
const mayRead = (scopes: ReadonlyArray<Scope>): boolean => scopes.includes("read") || scopes.includes("admin")

export const operations = Effect.gen(function* () {
  const keptFor = yield* Retention.KeptFor
  const proxy_upstreams = yield* ProxyUpstreams
  const { prices, rules, rulesInUse } = yield* Recorder
  return Operation.group("me", {
    getMe: ({ exchange: { actor, project, scopes } }) =>
      Effect.map(mayRead(scopes) ? rulesInUse : Effect.succeed(null), (events_by_rules) => ({
        project,
        actor,
        scopes,
        version,
        retention_ms: keptFor === undefined ? null : Duration.toMillis(keptFor),
        prices,
        rules,
        proxy_upstreams,
        events_by_rules
      }))
  })
})
