/** The answer of List Session Steps. */
import type { Step, StepPage } from "@tachograph/core"
import * as DateTime from "effect/DateTime"
import * as Answer from "./Answer.ts"

/** The text of a step as it is stored, behind the fields that are not in it. */
const textOf = (fields: Readonly<Record<string, unknown>>, { occurredAt, spanId, text, traceId }: Step): string => {
  const own = { trace_id: traceId, span_id: spanId, occurred_at: DateTime.formatIso(occurredAt), ...fields }
  return `${JSON.stringify(own).slice(0, -1)},${Buffer.from(text).toString("utf8", 1)}`
}

export const toAnswer = ({ damaged, rows }: StepPage, nextCursor: string | null): Answer.Answer => {
  const texts = rows.map((step) => {
    const { agent, agentVersion, person, receivedAt } = step
    const fields = { received_at: DateTime.formatIso(receivedAt), agent, agent_version: agentVersion, person }
    return textOf(fields, step)
  })
  const rest = `"damaged_steps":${damaged},"next_cursor":${JSON.stringify(nextCursor)}`
  return Answer.json(`{"steps":[${texts.join(",")}],${rest}}`)
}
