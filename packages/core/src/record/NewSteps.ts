/** Steps as they are recorded, and their texts. */
import type * as DateTime from "effect/DateTime"
import type { AgentName } from "../domain/Agent.ts"
import type { AgentVersionName } from "../domain/AgentVersion.ts"
import type { JsonText } from "../domain/JsonText.ts"
import type { PersonId } from "../domain/Person.ts"
import type { Recorded } from "../domain/Recorded.ts"
import type { SessionId } from "../domain/Session.ts"
import type { StepKind, StepStatus } from "../domain/Step.ts"
import type { SpanId, TraceId } from "../domain/Trace.ts"
import * as PieceScanner from "../payload/scan/PieceScanner.ts"
import type { StepKey } from "../storage/Steps.ts"

export interface NewStep {
  readonly traceId: TraceId
  readonly spanId: SpanId
  readonly parentSpanId: SpanId | null
  readonly name: string
  readonly kind: StepKind
  readonly occurredAt: DateTime.Utc
  readonly durationMs: number | null
  readonly status: StepStatus
  readonly message: string | null
  /** The text of a JSON object, which is kept byte for byte. */
  readonly attributes: JsonText
  readonly recorded: Recorded | null
}

/** Steps of one session, agent and person that become known together. Names that are absent or null get the defaults of an event. */
export interface NewSteps {
  readonly session: SessionId
  readonly agent?: AgentName | null | undefined
  readonly agentVersion?: AgentVersionName | null | undefined
  readonly person?: PersonId | null | undefined
  /** When they were received where they were recorded first, if they are imported. */
  readonly receivedAt?: DateTime.Utc | undefined
  readonly steps: ReadonlyArray<NewStep>
}

/** A step, with the JSON text of all that its row does not have. */
export interface StepText extends StepKey {
  readonly occurredAt: DateTime.Utc
  readonly text: string
  /** Bytes of the text. */
  readonly bytes: number
}

export const textOf = (step: NewStep): StepText => {
  const { attributes, durationMs, kind, message, name, occurredAt, parentSpanId, recorded, spanId, status, traceId } =
    step
  const fields = { parent_span_id: parentSpanId, name, kind, duration_ms: durationMs, status, message, recorded }
  const text = `${JSON.stringify(fields).slice(0, -1)},"attributes":${attributes}}`
  return { traceId, spanId, occurredAt, text, bytes: Buffer.byteLength(text) }
}

/** What one pack has at most, if it is not a single step: a read unpacks all of it. */
const maxGroup = { steps: 256, bytes: 512 * 1024 }

/** The steps in groups, of which each becomes a pack. */
export const groupsOf = (steps: ReadonlyArray<StepText>): ReadonlyArray<ReadonlyArray<StepText>> => {
  const groups: Array<Array<StepText>> = []
  let bytes = 0
  for (const step of steps) {
    const last = groups.at(-1)
    bytes += step.bytes
    if (last !== undefined && last.length < maxGroup.steps && bytes <= maxGroup.bytes) last.push(step)
    else {
      groups.push([step])
      bytes = step.bytes
    }
  }
  return groups
}

/**
 * The payload of a pack of steps: an array of their texts as the output. Nothing in an output becomes a piece of the history, in which the
 * messages of calls have to follow each other.
 */
export const payloadOf = (steps: ReadonlyArray<StepText>): PieceScanner.ScannedPayload =>
  PieceScanner.ofTexts("null", `[${steps.map(({ text }) => text).join(",")}]`)

/** Where the text of each step begins in that output. */
export const startsOf = (steps: ReadonlyArray<StepText>): ReadonlyArray<number> => {
  let next = 1
  return steps.map(({ bytes }) => {
    const start = next
    next += bytes + 1
    return start
  })
}
