/** Decodes events that are sent, each without what the patterns of the server match. */
import { type ProjectId, Recorder, Errors, Steps } from "@tachograph/core"
import * as Effect from "effect/Effect"
import { hash } from "node:crypto"
import { RedactPatterns } from "../Engine.ts"
import * as JsonBody from "../validation/JsonBody.ts"
import * as EventDecoder from "./EventDecoder.ts"
import { loopBudget } from "./LoopBudget.ts"
import { Redactor } from "./Redaction.ts"

/** Bodies from this length on (bytes) take long enough to decode to share turns of the event loop. */
export const largeBodyBytes = 32 * 1024

export const bufferOf = (bytes: Uint8Array): Buffer => Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)

const atOnce: EventDecoder.RunSteps = (steps) => Effect.sync(() => Steps.run(steps))

/** Decodes the events of a recorder as they are, large ones in turns of the event loop, which all of them share. */
export const makeVerbatim = (recorder: Recorder["Service"]) => {
  /** A large body whose event would time out in the queue, or has waited for too long for its turn, is not decoded. */
  function* unlessOverloaded<A>(
    steps: Steps.Steps<A>,
    sinceMs: number
  ): Steps.Steps<Effect.Effect<A, Errors.Overloaded>> {
    const { admission } = recorder
    if (admission.wouldTimeOut() || performance.now() - sinceMs >= admission.waitMs) {
      return Effect.fail(new Errors.Overloaded())
    }
    return Effect.succeed(yield* steps)
  }

  const inTurns: EventDecoder.RunSteps = (steps) =>
    Effect.suspend(() => Effect.flatten(loopBudget.runSteps(unlessOverloaded(steps, performance.now()))))

  return (project: ProjectId, body: JsonBody.Body, isStrict = false, key?: EventDecoder.Key) =>
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

export type Decode = ReturnType<typeof makeVerbatim>

/** The one decoder of what clients send: all ways in mask alike. */
export const make: Effect.Effect<Decode, never, Recorder> = Effect.gen(function* () {
  const decode = makeVerbatim(yield* Recorder)
  const patterns = yield* RedactPatterns
  if (patterns === null) return decode
  const redactor = new Redactor(patterns)

  return Effect.fnUntraced(function* (project, body, isStrict, key) {
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
})
