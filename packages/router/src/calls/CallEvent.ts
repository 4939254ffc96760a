/** The body of Create Event for a call that passed, with the payload's bytes as they passed. */
import { modelInUrl, recognise } from "@tachograph/capture"
import * as Endings from "@tachograph/capture/Endings"
import { failureOf, failureOfEncoding } from "@tachograph/capture/Failures"
import { sessionInBody } from "@tachograph/capture/Programs"
import { sessionSeed } from "@tachograph/capture/SessionSeed"
import { isBilled } from "@tachograph/capture/Unrecognised"
import { isFramed, rebuiltOf } from "@tachograph/capture/Wire"
import type { Steps } from "@tachograph/core"
import type { Api } from "@tachograph/formats"
import { hash } from "node:crypto"
import * as CallEnd from "./CallEnd.ts"
import * as CallInputs from "./CallInputs.ts"
import { nameOf } from "./CallName.ts"
import * as CallOutput from "./CallOutput.ts"
import * as EventOfCall from "./EventOfCall.ts"
import type { Interruption, PassedCall } from "./PassedCall.ts"

/** The bodies of a call, decompressed. */
export interface Bodies {
  readonly inputs: Buffer
  /** Undefined if it cannot be decompressed. */
  readonly output: Buffer | undefined
}

/**
 * The body, or why there is none: the request is no JSON object, or may be none because something ended it before an answer came
 * (`Interruption`); it is no call; it is a call that is billed and in none of the formats; or it has more credentials than can be looked for.
 */
export type Made =
  | EventOfCall.Recordable
  | "undecodable"
  | Interruption
  | "no-call"
  | "unrecognised"
  | "too-many-credentials"

/** The session of a call whose headers say none: what its body says, else the hash of its seed. */
const sessionIn = (api: Api, inputs: object, later: Endings.Later | null, program: string | undefined): string => {
  const said = sessionInBody(inputs, program)
  return said === undefined ? hash("sha256", later?.seed ?? sessionSeed(api, inputs)) : nameOf(said)
}

/** Whether an answer came before the whole request had: then the answer is worth recording, whatever the request would have been. */
const isCutByAnswer = ({ isRequestWhole, status }: PassedCall): boolean => !isRequestWhole && status !== 0

/** A request that broke off, in the shape of an answer that did. */
const cutInputs = (sent: Uint8Array): Buffer =>
  Buffer.from(
    JSON.stringify(failureOf("cut", Buffer.from(sent).toString(), "The request ended before all of it had come."))
  )

/** A request that is not known to be a call may be none, or one whose answer is missing. */
const unlessCall = ({ contentType, interruption, rest }: PassedCall, { inputs, output }: Bodies): Made => {
  if (interruption !== undefined || output === undefined) return "no-call"
  // What frames say of tokens stands in base64.
  const isOfModel = isFramed(contentType) || isBilled(rest, inputs.toString("latin1"), output.toString("latin1"))
  return isOfModel ? "unrecognised" : "no-call"
}

/** The event of a call, or of what may be one. */
function* makeOfCall(call: PassedCall, bodies: Bodies, begun: EventOfCall.Begun): Steps.Steps<Made> {
  const { beta, contentType, failureCode, grouping, interruption, kind, rest, status } = call
  const sent = yield* EventOfCall.clean(bodies.inputs)
  const inputs = yield* CallInputs.parse(sent, grouping.session === undefined)
  if (inputs === undefined && kind === "unknown") return unlessCall(call, bodies)
  if (inputs === undefined && !isCutByAnswer(call)) return interruption ?? "undecodable"
  // Frames are no text.
  const body = bodies.output && (isFramed(contentType) ? bodies.output : yield* EventOfCall.clean(bodies.output))
  const api = recognise(rest, inputs, beta) ?? (yield* CallOutput.apiOf(call, inputs, body))
  if (api === null) return unlessCall(call, bodies)
  const output =
    body === undefined
      ? Buffer.from(JSON.stringify(failureOfEncoding(call.responseEncoding ?? "")))
      : yield* CallOutput.of({ api, rest, status, contentType, body, interruption, failureCode })
  const rebuilt = inputs && rebuiltOf(api, rest)
  const written = rebuilt === undefined ? sent : Buffer.from(rebuilt.inputs(sent.toString()))
  const said = rebuilt === undefined ? inputs : (JSON.parse(written.toString()) as object)
  const later = said === undefined ? null : Endings.laterIn(api, said, output)
  // It is not known which conversation a request that broke off continues.
  const found = () => (said === undefined ? hash("sha256", sent) : sessionIn(api, said, later, call.program))
  const grouped = { ...grouping, session: grouping.session ?? found() }
  const model = modelInUrl(rest) ?? undefined
  const { durationMs, firstByteMs, occurredAt } = call
  const draft = {
    api,
    inputs: written,
    output,
    grouping: grouped,
    model,
    occurredAt,
    durationMs,
    firstByteMs,
    recorded: rebuilt && { rebuilt: true }
  }
  const event = yield* EventOfCall.write(call, draft, inputs === undefined ? cutInputs : undefined)
  if (event === undefined) return "too-many-credentials"
  if (later !== null) begun.calls.add(begun.scope, later.asked, event.begun())
  return { body: event.body, ends: later?.hasEnded === true ? later.asked : undefined }
}

export const make = (call: PassedCall, bodies: Bodies, begun: EventOfCall.Begun): Steps.Steps<Made> =>
  call.kind === "end" ? CallEnd.make(call, bodies, begun) : makeOfCall(call, bodies, begun)
