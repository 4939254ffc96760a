/** Create Event: decodes the body, or makes it of a call that passed the proxy, and answers when the event is committed. */
import { Events } from "@tachograph/api"
import * as Endings from "@tachograph/capture/Endings"
import { CurrentProject, Errors, type ProjectId, Recorder, Steps } from "@tachograph/core"
import * as Effect from "effect/Effect"
import { hash } from "node:crypto"
import { type Exchange, RedactPatterns } from "../Engine.ts"
import * as Answer from "../response/Answer.ts"
import * as IgnoredFields from "../response/IgnoredFields.ts"
import * as JsonBody from "../validation/JsonBody.ts"
import * as EventDecoder from "./EventDecoder.ts"
import * as EventResponse from "./EventResponse.ts"
import { loopBudget } from "./LoopBudget.ts"
import * as PassedCallEvent from "./PassedCallEvent.ts"
import { Redactor } from "./Redaction.ts"

/** Bodies from this length on (bytes) take long enough to decode to share turns of the event loop. */
const largeBodyBytes = 32 * 1024

const bufferOf = (bytes: Uint8Array): Buffer => Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)

const atOnce: EventDecoder.RunSteps = (steps) => Effect.sync(() => Steps.run(steps))

/** Decodes the events of a recorder, large ones in turns of the event loop, which all of them share. */
export const makeDecoder = (recorder: Recorder["Service"]) => {
  /** A large body whose event would time out in the queue is not decoded any further. */
  function* unlessOverloaded<A>(steps: Steps.Steps<A>): Steps.Steps<Effect.Effect<A, Errors.Overloaded>> {
    if (recorder.admission.wouldTimeOut()) return Effect.fail(new Errors.Overloaded())
    return Effect.succeed(yield* steps)
  }

  const inTurns: EventDecoder.RunSteps = (steps) => Effect.flatten(loopBudget.runSteps(unlessOverloaded(steps)))

  return (
    project: ProjectId,
    body: { readonly bytes: Uint8Array; readonly isJson: boolean },
    isStrict = false,
    key?: string
  ) =>
    EventDecoder.decode(
      { bytes: bufferOf(body.bytes), isJson: body.isJson },
      key,
      {
        prefixesOf: (session) => recorder.knownPrefixesOf(project, session),
        readFacts: recorder.readFacts,
        isStrict
      },
      body.bytes.length < largeBodyBytes ? atOnce : inTurns
    )
}

/** The answer to a request that is recorded by none of the formats. */
const noCall = Answer.empty()

export const make = Effect.gen(function* () {
  const recorder = yield* Recorder
  const decode = makeDecoder(recorder)
  const passedCalls = PassedCallEvent.make(largeBodyBytes)
  const patterns = yield* RedactPatterns
  const redactor = patterns === null ? undefined : new Redactor(patterns)

  /** The event of a body without what the patterns match. */
  const decodeMasked = Effect.fnUntraced(function* (
    redactor: Redactor,
    project: ProjectId,
    body: { readonly bytes: Uint8Array; readonly isJson: boolean },
    isStrict: boolean,
    key: string | undefined
  ) {
    // With a mark it would seem to be no JSON.
    const steps = redactor.masked(project, JsonBody.withoutMark(bufferOf(body.bytes)))
    const { count, text } = body.bytes.length < largeBodyBytes ? Steps.run(steps) : yield* loopBudget.runSteps(steps)
    const { event, ignored } = yield* decode(project, { ...body, bytes: text }, isStrict, key)
    const { idempotency, recorded } = event
    const masked = {
      ...event,
      recorded: count === 0 ? recorded : { ...recorded, redacted: count + (recorded?.redacted ?? 0) },
      // Of what was sent: the patterns may be others when it is sent again.
      idempotency: idempotency && { ...idempotency, bodyHash: hash("sha256", body.bytes, "buffer") }
    }
    return { event: masked, ignored }
  })

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
    const { event, ignored } = yield* redactor === undefined
      ? decode(project, body, isStrict, key)
      : decodeMasked(redactor, project, body, isStrict, key)
    const written = yield* Effect.provideService(
      recorder.createEvent({ ...event, arrivedAtMs, isAdmitted: true }),
      CurrentProject,
      project
    )
    if (ends !== undefined) passedCalls.ended(project, ends)
    return IgnoredFields.name(EventResponse.receipt(written), ignored)
  })
})
