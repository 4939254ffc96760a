/** Create Event: decodes the body, or makes it of a call that passed the proxy, and answers when the event is committed. */
import { Events } from "@tachograph/api"
import * as Endings from "@tachograph/capture/Endings"
import { CurrentProject, type Recorder } from "@tachograph/core"
import * as Effect from "effect/Effect"
import type { Exchange } from "../Engine.ts"
import * as Answer from "../response/Answer.ts"
import * as IgnoredFields from "../response/IgnoredFields.ts"
import * as JsonBody from "../validation/JsonBody.ts"
import { keyOfHeader } from "./EventDecoder.ts"
import * as EventResponse from "./EventResponse.ts"
import * as PassedCallEvent from "./PassedCallEvent.ts"
import { bufferOf, type Decode, largeBodyBytes } from "./SentEvent.ts"

/** The answer to a request that is recorded by none of the formats. */
const noCall = Answer.empty()

export const make = (recorder: Recorder["Service"], decode: Decode) => {
  const passedCalls = PassedCallEvent.make(largeBodyBytes)

  return Effect.fnUntraced(function* (exchange: Exchange) {
    const { arrivedAtMs, body: sent, headers, isStrict, maxEventBytes, passed, project } = exchange
    const made =
      passed === undefined
        ? { body: sent, ends: undefined }
        : yield* passedCalls.bodyOf(project, passed, bufferOf(sent), maxEventBytes)
    if (typeof made === "string") return made === "no-call" ? noCall : Answer.refuse(422, made)
    const { ends } = made
    const body = { bytes: made.body, isJson: JsonBody.isJson(headers["content-type"]) }
    const key = ends === undefined ? headers[Events.idempotencyKeyHeader] : Endings.keyOf(ends)
    const { event, ignored } = yield* decode(project, body, isStrict, key === undefined ? undefined : keyOfHeader(key))
    const written = yield* Effect.provideService(
      recorder.createEvent({ ...event, arrivedAtMs, isAdmitted: true }),
      CurrentProject,
      project
    )
    if (ends !== undefined) passedCalls.ended(project, ends)
    return IgnoredFields.name(EventResponse.receipt(written), ignored)
  })
}
