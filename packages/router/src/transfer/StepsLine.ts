/** A line of steps, which were recorded together. */
import { Export } from "@tachograph/api"
import { type NewStep, type NewSteps, Scan } from "@tachograph/core"
import * as Effect from "effect/Effect"
import * as JsonBody from "../validation/JsonBody.ts"
import * as SentText from "./SentText.ts"

const decode = JsonBody.decoder(Export.ImportedSteps)

type Sent = (typeof Export.ImportedSteps.Type)["steps"][number]

const stepOf = (step: Sent, attributes: NewStep["attributes"]): NewStep => ({
  traceId: step.trace_id,
  spanId: step.span_id,
  parentSpanId: step.parent_span_id ?? null,
  name: step.name,
  kind: step.kind,
  occurredAt: step.occurred_at,
  durationMs: step.duration_ms ?? null,
  status: step.status,
  message: step.message ?? null,
  attributes,
  recorded: step.recorded ?? null
})

/** The steps of a line, and the checksum that it gives them. */
export const read = Effect.fnUntraced(function* (line: Buffer) {
  const { bytes, value } = yield* decode({ bytes: line, isJson: true })
  const { agent, agent_version: agentVersion, checksum, person, received_at: receivedAt, session } = value
  const paths = value.steps.map((_, index) => ["steps", index, "attributes"])
  const spans = Scan.locateAll(bytes, paths)
  const steps: Array<NewStep> = []
  for (const [index, step] of value.steps.entries()) {
    const attributes = SentText.of(bytes, spans[index], step.attributes_text)
    if (!SentText.isObject(attributes)) return yield* SentText.noObject("steps", String(index), "attributes_text")
    steps.push(stepOf(step, attributes))
  }
  const group: NewSteps = { session, agent, agentVersion, person, receivedAt, steps }
  return { group, checksum: checksum === undefined ? undefined : Number.parseInt(checksum, 16) }
})
