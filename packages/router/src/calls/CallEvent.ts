/** The body of Create Event for a call that passed, with the payload's bytes as they passed. */
import { Steps } from "@tachograph/core"
import { type Api, modelInUrl, recognise } from "@tachograph/formats"
import * as Masking from "@tachograph/formats/masking/Call"
import { sessionSeed } from "@tachograph/formats/SessionSeed"
import * as Endings from "@tachograph/formats/Endings"
import type { Asked, BegunCalls } from "@tachograph/formats/Endings"
import { failureOf, failureOfEncoding } from "@tachograph/formats/Failures"
import { isBilled } from "@tachograph/formats/Unrecognised"
import { isUtf8 } from "node:buffer"
import { hash } from "node:crypto"
import * as CallInputs from "./CallInputs.ts"
import * as CallOutput from "./CallOutput.ts"
import type { Grouping, Interruption, PassedCall } from "./PassedCall.ts"

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
export type Made = MadeEvent | "undecodable" | Interruption | "no-call" | "unrecognised" | "too-many-credentials"

export interface MadeEvent {
  readonly body: Buffer
  /** What was made in the background, and ended with this answer: whatever else has its end is the same event. */
  readonly ends: Asked | undefined
}

/** What is known of a call that was made in the background, beside its inputs without credentials. */
interface BegunCall {
  readonly inputs: string
  readonly grouping: Grouping
  readonly model: string | undefined
  /** ISO 8601. */
  readonly occurredAt: string
}

/** Those of one project, which `scope` names. */
export interface Begun {
  readonly calls: BegunCalls<BegunCall>
  readonly scope: string
}

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

/** What of an event is not the same for all that pass. */
interface Draft {
  readonly api: Api
  readonly inputs: Buffer
  readonly output: Buffer
  readonly grouping: Grouping
  readonly model: string | undefined
  readonly occurredAt: string
  readonly durationMs: number | undefined
  readonly firstByteMs: number | undefined
  /** What is recorded of it beside its masks. */
  readonly recorded: object
}

/** Masks the credentials of a call in the event of it. `written` makes JSON of inputs that are none. */
function* write(call: PassedCall, draft: Draft, written?: typeof cutInputs): Steps.Steps<Written | undefined> {
  const masked = yield* Masking.masked(call, draft.inputs, draft.output, written)
  if (masked === undefined) return undefined
  const envelope = Buffer.from(
    JSON.stringify({
      ...draft.grouping,
      fingerprint_id: call.fingerprintId,
      occurred_at: draft.occurredAt,
      duration_ms: draft.durationMs === undefined ? undefined : rounded(draft.durationMs),
      first_token_ms: draft.firstByteMs && rounded(draft.firstByteMs),
      http_status: hasStatus(call.status) ? call.status : undefined,
      model: draft.model
    })
  )
  // A person may be named by their key.
  const safeEnvelope = yield* masked.beside(envelope)
  if (safeEnvelope === undefined) return undefined
  const recorded = { ...(masked.count === 0 ? {} : { redacted: masked.count }), ...draft.recorded }
  const hasRecorded = Object.keys(recorded).length > 0
  const body = Buffer.concat([
    Buffer.from(`{"event_name":"llm","properties":{"api":${JSON.stringify(draft.api)},"inputs":`),
    masked.inputs,
    Buffer.from(`,"output":`),
    masked.output,
    Buffer.from(`},${hasRecorded ? `"recorded":${JSON.stringify(recorded)},` : ""}`),
    safeEnvelope.subarray(1)
  ])
  return { body, inputs: masked.inputs }
}

interface Written {
  readonly body: Buffer
  /** Without credentials. */
  readonly inputs: Uint8Array
}

/** The answer that an output is, if it may be one of a call in the background: most are not, and are not read for it. */
const answerIn = (api: Api, inputs: object, output: Buffer): unknown => {
  const asks: { readonly background?: unknown; readonly deferred?: unknown; readonly agent?: unknown } = inputs
  const isAsked = asks.background === true || asks.deferred === true || asks.agent !== undefined
  return isAsked || Endings.mayBeInBackground(api, output) ? (JSON.parse(output.toString()) as unknown) : undefined
}

/** The event of a call, or of what may be one. */
function* makeOfCall(call: PassedCall, bodies: Bodies, begun: Begun): Steps.Steps<Made> {
  const { beta, contentType, failureCode, grouping, interruption, kind, rest, status } = call
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
  const answer = inputs && answerIn(api, inputs, output)
  const asked = answer === undefined ? null : Endings.inBackground(api, inputs, answer)
  const hasBegun = answer === undefined ? null : Endings.begunBy(api, inputs, answer)
  const sessionOf = (inputs: object): string =>
    asked === null ? derivedSession(api, inputs) : hash("sha256", Endings.seedOf(asked, answer))
  const grouped = {
    ...grouping,
    // It is not known which conversation a request that broke off continues.
    session: grouping.session ?? (inputs === undefined ? hash("sha256", sent) : sessionOf(inputs))
  }
  const model = modelInUrl(rest) ?? undefined
  const { durationMs, firstByteMs, occurredAt } = call
  const draft = {
    api,
    inputs: sent,
    output,
    grouping: grouped,
    model,
    occurredAt,
    durationMs,
    firstByteMs,
    recorded: {}
  }
  const written = yield* write(call, draft, inputs === undefined ? cutInputs : undefined)
  if (written === undefined) return "too-many-credentials"
  const remembered = hasBegun ?? asked
  if (remembered !== null) {
    const known = { inputs: Buffer.from(written.inputs).toString(), grouping: grouped, model, occurredAt }
    begun.calls.add(begun.scope, remembered, known)
  }
  return { body: written.body, ends: asked !== null && hasBegun === null ? asked : undefined }
}

/** The event of a call whose answer has come by another request; none where it has not come, or came before. */
function* makeOfEnd(call: PassedCall, { output: received }: Bodies, begun: Begun): Steps.Steps<Made> {
  const { contentType, failureCode, interruption, method, rest, status } = call
  const asked = Endings.askedOf(method, rest)
  const known = asked === null ? undefined : begun.calls.find(begun.scope, asked)
  const isAnswered = received !== undefined && status >= 200 && status < 300
  if (asked === null || !isAnswered || known?.isEnded === true) return "no-call"
  const body = yield* inUtf8(withoutMark(received))
  const { api } = asked
  const output = yield* CallOutput.of({ api, rest, status, contentType, body, interruption, failureCode })
  const answer: unknown = JSON.parse(output.toString())
  if (!Endings.isEnd(asked, answer)) return "no-call"
  const endedAtMs = Date.parse(call.occurredAt) + call.durationMs
  if (known === undefined && !Endings.isEndOfUnknown(asked, answer, endedAtMs)) return "no-call"
  const { grouping, inputs, model, occurredAt } = known?.call ?? {
    grouping: { session: hash("sha256", Endings.seedOf(asked, answer)), ...call.grouping },
    inputs: Endings.inputsOf(asked),
    model: Endings.modelOf(answer),
    occurredAt: call.occurredAt
  }
  const draft = {
    ...{ api, inputs: Buffer.from(inputs), output, grouping, model, occurredAt },
    durationMs: known && endedAtMs - Date.parse(occurredAt),
    firstByteMs: undefined,
    recorded: { retrieved: true }
  }
  const written = yield* write(call, draft)
  return written === undefined ? "too-many-credentials" : { body: written.body, ends: asked }
}

export const make = (call: PassedCall, bodies: Bodies, begun: Begun): Steps.Steps<Made> =>
  call.kind === "end" ? makeOfEnd(call, bodies, begun) : makeOfCall(call, bodies, begun)
