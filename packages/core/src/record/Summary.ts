/** What is stored of a new event beside its texts. */
import type * as DateTime from "effect/DateTime"
import { defaultAgentName } from "../domain/Agent.ts"
import { defaultAgentVersionName } from "../domain/AgentVersion.ts"
import { type EventId, EventSummary } from "../domain/Event.ts"
import type * as ReadFacts from "../facts/ReadFacts.ts"
import type { NewEvent } from "./NewEvent.ts"

/**
 * Every field has been decoded, so the constructor is not called: it would look at each again and
 * copy it, which takes some ten times as long.
 */
export const of = (
  id: EventId,
  receivedAt: DateTime.Utc,
  event: NewEvent,
  { costUsd, listCostUsd, price, priceIsExact, statedCostUsd, unpriced, unpricedParts }: ReadFacts.Cost
): EventSummary => {
  const { facts } = event.facts
  const { inputs, output } = event.payload
  return {
    __proto__: EventSummary.prototype,
    id,
    receivedAt,
    api: event.api,
    fingerprintId: event.fingerprintId,
    agent: event.agent ?? defaultAgentName,
    agentVersion: event.agentVersion ?? defaultAgentVersionName,
    person: event.person ?? null,
    session: event.session,
    occurredAt: event.occurredAt ?? null,
    durationMs: event.durationMs ?? null,
    firstTokenMs: event.firstTokenMs ?? null,
    httpStatus: event.httpStatus ?? null,
    traceId: event.traceId ?? null,
    spanId: event.spanId ?? null,
    recorded: event.recorded ?? null,
    provider: facts.provider,
    model: facts.model,
    responseModel: facts.responseModel,
    inputTokens: facts.inputTokens,
    outputTokens: facts.outputTokens,
    cacheReadTokens: facts.cacheReadTokens,
    cacheWriteTokens: facts.cacheWriteTokens,
    reasoningTokens: facts.reasoningTokens,
    stopReason: facts.stopReason,
    providerStopReason: facts.providerStopReason,
    toolCalls: facts.toolCalls,
    errorType: facts.errorType,
    errorCode: facts.errorCode,
    errorStatus: facts.errorStatus,
    costUsd,
    statedCostUsd,
    listCostUsd,
    price,
    priceIsExact,
    unpricedParts,
    unpriced,
    inputsBytes: inputs.end - inputs.start,
    outputBytes: output.end - output.start
  } satisfies EventSummary & { readonly __proto__: EventSummary } as EventSummary
}
