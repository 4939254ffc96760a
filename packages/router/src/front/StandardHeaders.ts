/** What every answer has, and what is told of it. */
import { type Context, Effect, LogLevel } from "effect"
import * as RequestMetrics from "./RequestMetrics.ts"

/** Seconds to wait before another try, spread so that not all come back at once. */
export const retryAfter = (): string => String(1 + Math.floor(3 * Math.random()))

export const headers = (id: string) => ({ "x-request-id": id, "x-content-type-options": "nosniff" }) as const

const starts = new WeakMap<object, number>()

/** When a request came, in milliseconds, by what carries it: it may go several ways through us before it is answered. */
export const startOf = (source: object): number => {
  const started = starts.get(source) ?? performance.now()
  starts.set(source, started)
  return started
}

/** Of what no cache may keep. */
export const unkept = { "cache-control": "no-store" } as const

/** Counts answers, and logs them where somebody reads at that level: nobody pays for a line that nobody reads. */
export const teller: Effect.Effect<(id: string, answered: RequestMetrics.Answered) => void> = Effect.gen(function* () {
  const context: Context.Context<never> = yield* Effect.context<never>()
  const isRead = yield* LogLevel.isEnabled("Debug")
  const run = Effect.runForkWith(context)
  RequestMetrics.showAbsent(context)
  return (id, answered) => {
    RequestMetrics.update(context, answered)
    if (!isRead) return
    const { method, seconds, status } = answered
    const line = { request_id: id, method: RequestMetrics.nameOf(method), status, ms: Math.round(seconds * 1000) }
    run(Effect.annotateLogs(Effect.logDebug("Answered"), line))
  }
})
