/** The text of an event, of what is known of a call. */
import type { Asked, BegunCalls } from "@tachograph/capture/Endings"
import { type Grouping, type Recorded, recordedOf } from "@tachograph/capture/Grouping"
import * as Masking from "@tachograph/capture/masking/Call"
import { Steps } from "@tachograph/core"
import type { Api } from "@tachograph/formats"
import { isUtf8 } from "node:buffer"
import type { PassedCall } from "./PassedCall.ts"

/** What is known of a call that was made in the background, without credentials. */
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

/** An event that can be recorded. */
export interface Recordable {
  readonly body: Buffer
  /** What was made in the background, and ended with this answer: whatever else has its end is the same event. */
  readonly ends: Asked | undefined
}

/** What of an event's envelope is read again. */
interface Envelope extends Grouping {
  readonly model?: string
  readonly occurred_at: string
}

const begunOf = (inputs: Uint8Array, envelope: Envelope): BegunCall => {
  const { agent, agent_version, model, occurred_at: occurredAt, person, session, subagent } = envelope
  const grouping = { session, agent, agent_version, person, subagent }
  return { inputs: Buffer.from(inputs).toString(), grouping, model, occurredAt }
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
  readonly recorded: Recorded | undefined
}

/** The event of a call without its credentials; undefined if there are too many. `toJson` makes JSON of inputs that are none. */
export function* write(
  call: PassedCall,
  draft: Draft,
  toJson?: (sent: Uint8Array) => Buffer
): Steps.Steps<Written | undefined> {
  const masked = yield* Masking.masked(call, draft.inputs, draft.output, toJson)
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
  const written = yield* masked.beside(envelope)
  if (written === undefined) return undefined
  const safe = JSON.parse(Buffer.from(written).toString()) as Envelope
  const { subagent, ...beside } = safe
  const recorded = recordedOf(masked.count, subagent, draft.recorded)
  const body = Buffer.concat([
    Buffer.from(`{"event_name":"llm","properties":{"api":${JSON.stringify(draft.api)},"inputs":`),
    masked.inputs,
    Buffer.from(`,"output":`),
    masked.output,
    Buffer.from(`},${JSON.stringify({ ...beside, recorded }).slice(1)}`)
  ])
  return { body, begun: () => begunOf(masked.inputs, safe) }
}

interface Written {
  readonly body: Buffer
  /** What is to be known when its answer comes. */
  readonly begun: () => BegunCall
}

const rounded = (ms: number): number => Math.round(ms * 10) / 10

/** Whether an event can have it: no answer has none, and some gateways answer with one beyond those of HTTP. */
const hasStatus = (status: number): boolean => status >= 100 && status <= 599

/** Some servers begin JSON with a byte order mark, which no JSON text has. */
const mark = Buffer.from("\ufeff")

const withoutMark = (text: Buffer): Buffer =>
  text.subarray(0, mark.length).equals(mark) ? text.subarray(mark.length) : text

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

/** The text of a body as it is recorded. */
export const clean = (body: Buffer): Steps.Steps<Buffer> => inUtf8(withoutMark(body))
