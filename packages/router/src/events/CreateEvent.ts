/** Create Event: decodes the body, and answers when the event is committed. */
import { Events } from "@tachograph/api"
import { CurrentProject, Errors, Recorder } from "@tachograph/core"
import { Effect } from "effect"
import type { Exchange } from "../Engine.ts"
import * as JsonBody from "../validation/JsonBody.ts"
import * as EventDecoder from "./EventDecoder.ts"
import * as EventResponse from "./EventResponse.ts"
import { LoopBudget } from "./LoopBudget.ts"

/** Bodies from this length on (bytes) take long enough to decode to share turns of the event loop. */
const largeBodyBytes = 32 * 1024

const bufferOf = (bytes: Uint8Array): Buffer => Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)

export const make = Effect.gen(function* () {
  const recorder = yield* Recorder
  const loopBudget = new LoopBudget()

  const decode = ({ body, headers, project }: Exchange) =>
    EventDecoder.decode(
      { bytes: bufferOf(body), isJson: JsonBody.isJson(headers["content-type"]) },
      headers[Events.idempotencyKeyHeader],
      (session) => recorder.knownPrefixesOf(project, session)
    )

  /** A large body whose event would time out in the queue is refused before it is decoded. */
  const decodeLarge = (exchange: Exchange) =>
    loopBudget.runInSlice(() =>
      recorder.admission.wouldTimeOut() ? Effect.fail(new Errors.Overloaded()) : decode(exchange)
    )

  return Effect.fnUntraced(function* (exchange: Exchange) {
    const { arrivedAtMs, body, project } = exchange
    const event = yield* body.length < largeBodyBytes ? decode(exchange) : yield* decodeLarge(exchange)
    const written = yield* Effect.provideService(
      recorder.createEvent({ ...event, arrivedAtMs, isAdmitted: true }),
      CurrentProject,
      project
    )
    return EventResponse.receipt(written)
  })
})
