/** What an answer gets before it is sent: the standard headers, a line in the log, and, where it comes in pieces, a watch. */
import { InFlightSet } from "@tachograph/core"
import * as Effect from "effect/Effect"
import * as Answer from "../response/Answer.ts"
import { accessLogger } from "./AccessLog.ts"
import { AnswerTimeoutMs } from "./AnswerTimeout.ts"
import type { Incoming } from "./Incoming.ts"
import type { KeyWatch } from "./KeyWatch.ts"
import * as Refusals from "./Refusals.ts"
import * as Reply from "./Reply.ts"
import type * as RequestState from "./RequestState.ts"
import { addStandardHeaders } from "./StandardHeaders.ts"
import type { TimedStream } from "./TimedStream.ts"

export const make = Effect.fnUntraced(function* (keys: KeyWatch) {
  const logAccess = yield* accessLogger
  const answerTimeoutMs = yield* AnswerTimeoutMs
  const streams = new InFlightSet<TimedStream>()

  const finish = (state: RequestState.RequestState, url: string | undefined, reply: Reply.Reply): Reply.Reply => {
    if (state.isHttp) logAccess(state, reply)
    return addStandardHeaders(reply, state.id, url)
  }

  /** Finishes an answer that may be large. */
  const finishLarge = (
    state: RequestState.RequestState,
    url: string | undefined,
    answer: Answer.Answer,
    isBehind: Incoming["isBehind"]
  ) => {
    // The answer to HEAD has the length of the body, and no body.
    if (state.method === "HEAD") {
      const reply = { ...finish(state, url, answer), body: "" }
      Answer.free(answer)
      return reply
    }
    const reply = Reply.of(answer, answerTimeoutMs, state.permit, state.project, isBehind)
    const live = reply?.live
    if (live !== undefined) {
      const forget = streams.add(live)
      const unwatch = keys.watch(state, answer, live)
      live.onEnd = () => {
        forget()
        unwatch()
      }
    }
    return finish(state, url, reply ?? Refusals.overloaded)
  }

  /** Cuts all answers that come in pieces. */
  const endStreams = () => {
    for (const stream of streams.values()) stream.cancel()
  }
  yield* Effect.addFinalizer(() => Effect.sync(endStreams))
  return { endStreams, finish, finishLarge }
})
