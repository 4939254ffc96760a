/** The output of a call: what its response says, or what the stream stands for, as the JSON text of an object. */
import { failureOf, failureOfBody, isBroken, outputOf, withFailure } from "@tachograph/capture/Failures"
import {
  beginsAsEvents,
  firstEvents,
  firstEventsCharacters,
  isStream,
  recogniseByAnswer
} from "@tachograph/capture/Recognise"
import { accumulatorOf, rebuiltOf } from "@tachograph/capture/Wire"
import { Steps } from "@tachograph/core"
import type { JsonObject, WireApi } from "@tachograph/formats"
import * as CallInputs from "./CallInputs.ts"
import type { Interruption, PassedCall } from "./PassedCall.ts"

export interface ReceivedOutput {
  readonly api: WireApi
  /** Path and query below the upstream. */
  readonly rest: string
  /** 0 where no response came. */
  readonly status: number
  readonly contentType: string
  /** Decompressed. */
  readonly body: Buffer
  readonly interruption: Interruption | undefined
  readonly failureCode: string | undefined
}

/** `body` is what came of an answer that is none. */
const interrupted = (interruption: Interruption, failureCode: string | undefined, body?: string) => {
  const hasCode = interruption === "connection_error" && failureCode !== undefined
  return failureOf(interruption, body, hasCode ? `The connection failed: ${failureCode}.` : undefined)
}

/** A stream as the answer that it stands for. */
function* accumulate(received: ReceivedOutput): Steps.Steps<Buffer> {
  const { api, body, contentType, failureCode, interruption, rest } = received
  const accumulator = accumulatorOf(api, rest, contentType)
  for (let at = 0; at < body.length; at += Steps.stepBytes) {
    accumulator.push(body.subarray(at, at + Steps.stepBytes))
    yield
  }
  const failure = interruption === undefined ? failureOf("cut") : interrupted(interruption, failureCode)
  return Buffer.from(outputOf(accumulator.end(), failure))
}

/** The text as it is, where it is an object, with an error if it was to go on, and otherwise an error that has it. */
function* whole({ body, failureCode, interruption, status }: ReceivedOutput): Steps.Steps<Buffer> {
  const isCut = isBroken(interruption)
  const object = yield* CallInputs.parse(body, isCut)
  if (object !== undefined && !isCut) return body
  const text = body.toString()
  if (object !== undefined && isCut)
    return Buffer.from(withFailure(text, object as JsonObject, interrupted(interruption, failureCode)))
  const failure =
    interruption === undefined ? failureOfBody(status, text) : interrupted(interruption, failureCode, text)
  return Buffer.from(JSON.stringify(failure))
}

/** No field of an event stream is longer, with a byte order mark and its colon (bytes). */
const beginningBytes = 16

const beginsStream = (body: Buffer): boolean => beginsAsEvents(body.toString("utf8", 0, beginningBytes))

/** The format of a call by its answer, where its path does not say it. `body` is undefined if it cannot be decompressed. */
export function* apiOf(
  { beta, rest }: Pick<PassedCall, "beta" | "rest">,
  inputs: object | undefined,
  body: Buffer | undefined
): Steps.Steps<WireApi | null> {
  if (inputs === undefined || body === undefined) return null
  const answers = beginsStream(body)
    ? firstEvents(body.toString("utf8", 0, firstEventsCharacters))
    : [yield* CallInputs.parse(body, false)]
  return recogniseByAnswer(rest, inputs, answers, beta)
}

export function* of(received: ReceivedOutput): Steps.Steps<Buffer> {
  const { api, body, contentType, rest, status } = received
  // 101 is that of a call over a WebSocket.
  const isAnswer = (status >= 200 && status < 300) || status === 101
  const isStreamed = isStream(rest, contentType) || beginsStream(body)
  if (isAnswer && isStreamed) return yield* accumulate(received)
  const output = yield* whole(received)
  const rebuilt = rebuiltOf(api, rest)
  return rebuilt === undefined ? output : Buffer.from(rebuilt.output(output.toString()))
}
