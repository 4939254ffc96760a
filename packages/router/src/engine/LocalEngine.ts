/** The engine on the thread of the server. */
import type { TachographApi } from "@tachograph/api"
import { Recorder, type Storage } from "@tachograph/core"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { Engine } from "../Engine.ts"
import * as Audit from "../handlers/Audit.ts"
import * as Agents from "../handlers/Agents.ts"
import * as AgentVersions from "../handlers/AgentVersions.ts"
import * as Events from "../handlers/Events.ts"
import * as Export from "../handlers/Export.ts"
import * as Failures from "../handlers/Failures.ts"
import * as Fingerprints from "../handlers/Fingerprints.ts"
import * as Me from "../handlers/Me.ts"
import type { Operation } from "../handlers/Operation.ts"
import * as People from "../handlers/People.ts"
import * as Search from "../handlers/Search.ts"
import * as Sessions from "../handlers/Sessions.ts"
import * as Shared from "../handlers/Shared.ts"
import * as SignIn from "../handlers/SignIn.ts"
import * as StorageUse from "../handlers/StorageUse.ts"
import * as Usage from "../handlers/Usage.ts"
import * as System from "../handlers/System.ts"
import { Otlp } from "../otlp/Otlp.ts"
import * as ErrorAnswer from "../response/ErrorAnswer.ts"
import * as AnswerCompression from "./AnswerCompression.ts"
import * as ContractPages from "./ContractPages.ts"
import * as Viewer from "./Viewer.ts"

/** The handlers of each group of the contract; a missing group does not compile. */
const groups = {
  events: Events.operations,
  fingerprints: Fingerprints.operations,
  agents: Agents.operations,
  agentVersions: AgentVersions.operations,
  people: People.operations,
  search: Search.operations,
  sessions: Sessions.operations,
  shared: Shared.operations,
  failures: Failures.operations,
  usage: Usage.operations,
  storage: StorageUse.operations,
  audit: Audit.operations,
  export: Export.operations,
  me: Me.operations,
  signIn: SignIn.operations,
  system: System.operations
} satisfies Record<keyof (typeof TachographApi)["groups"], unknown>

export const layer: Layer.Layer<Engine, never, Recorder | Storage> = Layer.effect(
  Engine,
  Effect.gen(function* () {
    const handled = Object.values(yield* Effect.all(groups)).flat()
    const operations = new Map<string, Operation>([
      ...handled,
      ...Object.entries((yield* Otlp).operations),
      ...Object.entries(yield* ContractPages.operations),
      ...Object.entries(yield* Viewer.operations)
    ])
    const answerErrors = ErrorAnswer.make()
    const compress = AnswerCompression.make()
    const { admission } = yield* Recorder
    return Engine.of({
      admission,
      handle: (exchange) => {
        const operation = operations.get(exchange.endpoint)
        const answer =
          operation === undefined
            ? Effect.die(new Error(`No operation for the endpoint ${exchange.endpoint}`))
            : Effect.suspend(() => operation(exchange))
        return Effect.flatMap(answerErrors(answer, exchange.requestId), (answer) =>
          compress(answer, exchange.headers["accept-encoding"])
        )
      }
    })
  })
).pipe(Layer.provide(Otlp.layer))
