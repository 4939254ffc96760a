/** The proxy's own answers: why a request is refused, or got none from its upstream. */
import * as Effect from "effect/Effect"
import { randomUUID } from "node:crypto"
import { addStandardHeaders } from "../front/StandardHeaders.ts"
import type { Answer } from "../response/Answer.ts"
import { BurstLog } from "./BurstLog.ts"
import type * as Gate from "./Gate.ts"
import * as ProxyErrors from "./ProxyErrors.ts"
import type { ProxyMetrics } from "./ProxyMetrics.ts"
import { UpstreamTimeout } from "./UpstreamAgents.ts"
import { codeOf, ProxyClosing, RequestBroken } from "./UpstreamClient.ts"

/** What the log says of a request without an answer: the upstream by its name, not by its URL. */
interface Unreached {
  readonly upstream: string
  readonly code: string | undefined
}

type Unanswered = "broken" | "closing" | "timeout" | "unreachable"

/** Why a request got no answer from its upstream. */
const reasonOf = (error: Error): Unanswered => {
  if (error instanceof ProxyClosing) return "closing"
  if (error instanceof RequestBroken) return "broken"
  return error instanceof UpstreamTimeout ? "timeout" : "unreachable"
}

const unansweredAnswers: Readonly<Record<Unanswered, Answer>> = {
  broken: ProxyErrors.upstreamUnreachable,
  closing: ProxyErrors.closing,
  timeout: ProxyErrors.upstreamTimeout,
  unreachable: ProxyErrors.upstreamUnreachable
}

const finish = (answer: Answer, id: string = randomUUID()): Answer => addStandardHeaders(answer, id, undefined)

/** Counts each of them. Writes to the log until the scope is closed. */
export const make = Effect.fnUntraced(function* (metrics: ProxyMetrics) {
  const run = Effect.runForkWith(yield* Effect.context<never>())
  const log = new BurstLog<Unreached>(({ code, upstream }, requests_not_logged) => {
    const warning = Effect.logWarning("A model provider could not be reached, or did not answer")
    run(Effect.annotateLogs(warning, { upstream, ...(code === undefined ? {} : { code }), requests_not_logged }))
  })
  yield* Effect.addFinalizer(() => Effect.sync(() => log.end()))
  return {
    /** `id` is the one of the request that the log has. */
    refused: (answer: Answer, id?: string): Answer => {
      metrics.count("refused")
      return finish(answer, id)
    },
    unanswered: (error: Error, { upstream }: Gate.Destination): Answer => {
      const reason = reasonOf(error)
      const isOfUpstream = reason === "timeout" || reason === "unreachable"
      metrics.count(isOfUpstream ? reason : "cut")
      if (isOfUpstream) log.say({ upstream: upstream.name, code: codeOf(error) })
      return finish(unansweredAnswers[reason])
    }
  }
})
