/** The body of Create Event for a call that passed, with the payload's bytes as they passed. */
import { Steps } from "@tachograph/core"
import { type Api, modelInUrl, recognise } from "@tachograph/formats"
import * as Masking from "@tachograph/formats/masking/Call"
import { sessionSeed } from "@tachograph/formats/SessionSeed"
import { failureOf, failureOfEncoding } from "@tachograph/formats/Failures"
import { isBilled } from "@tachograph/formats/Unrecognised"
import { isUtf8 } from "node:buffer"
import { hash } from "node:crypto"
import * as CallInputs from "./CallInputs.ts"
import * as CallOutput from "./CallOutput.ts"
import type { Interruption, PassedCall } from "./PassedCall.ts"

/** The bodies of a call, decompressed. */
export interface Bodies {
  readonly inputs: Buffer
  /** Undefined if it cannot be decompressed. */
  readonly output: Buffer | undefined
}

/**
 * The body, or why there is none: the request is no JSON object, it may be none because something ended it before an answer
 * came, it is one of something else than a call, or of one in none of the formats that is billed, or it has more credentials than can be
 * looked for.
 */
export type Made = Buffer | "undecodable" | Interruption | "no-call" | "unrecognised" | "too-many-credentials"

const derivedSession = (api: Api, inputs: object): string => hash("sha256", sessionSeed(api, inputs))

const rounded = (ms: number): number => Math.round(ms * 10) / 10

/** Whether an event can have it: no answer has none, and some gateways answer with one beyond those of HTTP. */
const hasStatus = (status: number): boolean => status >= 100 && status <= 599

/** Some servers begin JSON with a byte order mark, which no JSON text has. */
const mark = Buffer.from("\ufeff")

const withoutMark = (text: Buffer): Buffer =>
  text.subarray(0, mark.length).equals(mark) ? text.subarray(mark.length) : text

/** Whether an answer came before the whole request had: then the answer is worth recording, whatever the request would have been. */
const isCutByAnswer = ({ isRequestWhole, status }: PassedCall): boolean => !isRequestWhole && status !== 0

/** A request that broke off, in the shape of an answer that did. */
const cutInputs = (sent: Uint8Array): Buffer =>
  Buffer.from(
    JSON.stringify(failureOf("cut", Buffer.from(sent).toString(), "The request ended before all of it had come."))
  )

/** What is no UTF-8 becomes U+FFFD, as in the client: JSON is nothing else, and the call was one all the same. */
function* inUtf8(text: Buffer): Steps.Steps<Buffer> {
  if (isUtf8(text)) return text
  const decoder = new TextDecoder("utf-8", { ignoreBOM: true })
  const parts: Array<Buffer> = []
  for (let at = 0; at < text.length; at += Steps.stepBytes) {
    parts.push(Buffer.from(decoder.decode(text.subarray(at, at + Steps.stepBytes), { stream: true })))
    yield
  }
  parts.push(Buffer.from(decoder.decode()))
  return Buffer.concat(parts)
}

/** A request that is not known to be a call may be none, or one whose answer is missing. */
const unlessCall = ({ interruption, rest }: PassedCall, { inputs, output }: Bodies): Made => {
  if (interruption !== undefined || output === undefined) return "no-call"
  return isBilled(rest, inputs.toString("latin1"), output.toString("latin1")) ? "unrecognised" : "no-call"
}

export function* make(call: PassedCall, bodies: Bodies): Steps.Steps<Made> {
  const { beta, contentType, failureCode, firstByteMs, grouping, interruption, kind, rest, status } = call
  const sent = yield* inUtf8(withoutMark(bodies.inputs))
  const inputs = yield* CallInputs.parse(sent, grouping.session === undefined)
  if (inputs === undefined && kind === "unknown") return unlessCall(call, bodies)
  if (inputs === undefined && !isCutByAnswer(call)) return interruption ?? "undecodable"
  const body = bodies.output && (yield* inUtf8(withoutMark(bodies.output)))
  const api = recognise(rest, inputs, beta) ?? (yield* CallOutput.apiOf(call, inputs, body))
  if (api === null) return unlessCall(call, bodies)
  const output =
    body === undefined
      ? Buffer.from(JSON.stringify(failureOfEncoding(call.responseEncoding ?? "")))
      : yield* CallOutput.of({ api, rest, status, contentType, body, interruption, failureCode })
  const masked = yield* Masking.masked(call, sent, output, inputs === undefined ? cutInputs : undefined)
  if (masked === undefined) return "too-many-credentials"
  const envelope = Buffer.from(
    JSON.stringify({
      ...grouping,
      // It is not known which conversation a request that broke off continues.
      session: grouping.session ?? (inputs === undefined ? hash("sha256", sent) : derivedSession(api, inputs)),
      fingerprint_id: call.fingerprintId,
      occurred_at: call.occurredAt,
      duration_ms: rounded(call.durationMs),
      first_token_ms: firstByteMs && rounded(firstByteMs),
      http_status: hasStatus(status) ? status : undefined,
      model: modelInUrl(rest) ?? undefined
    })
  )
  // A person may be named by their key.
  const safeEnvelope = yield* masked.beside(envelope)
  if (safeEnvelope === undefined) return "too-many-credentials"
  const recorded = masked.count === 0 ? "" : `"recorded":{"redacted":${masked.count}},`
  return Buffer.concat([
    Buffer.from(`{"event_name":"llm","properties":{"api":${JSON.stringify(api)},"inputs":`),
    masked.inputs,
    Buffer.from(`,"output":`),
    masked.output,
    Buffer.from(`},${recorded}`),
    safeEnvelope.subarray(1)
  ])
}
