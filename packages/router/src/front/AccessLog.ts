/** Counts every answer, and logs it at the level `Debug`. */
import type * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as LogLevel from "effect/LogLevel"
import type { Answer } from "../response/Answer.ts"
import * as RequestMetrics from "./RequestMetrics.ts"
import type { RequestState } from "./RequestState.ts"

type AccessLogger = (state: RequestState, answer: Answer) => void

/** Whether lines are logged is decided once: a line that no logger takes costs nothing. */
export const accessLogger: Effect.Effect<AccessLogger> = Effect.gen(function* () {
  const context: Context.Context<never> = yield* Effect.context<never>()
  const isLogged = yield* LogLevel.isEnabled("Debug")
  const run = Effect.runForkWith(context)
  RequestMetrics.initialize(context)
  return ({ id, method, startedAtMs }, { refusal, status }) => {
    const seconds = (performance.now() - startedAtMs) / 1000
    RequestMetrics.update(context, { method, status, refusal: refusal?.type, seconds })
    if (!isLogged) return
    const line = { request_id: id, method: RequestMetrics.methodLabel(method), status, ms: Math.round(seconds * 1000) }
    run(Effect.annotateLogs(Effect.logDebug("Answered"), line))
  }
})
