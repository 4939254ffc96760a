import type { EventSummary } from "../domain/Event.ts"

/** What is added up of an event. */
export type Countable = Pick<
  EventSummary,
  | "errorType"
  | "inputTokens"
  | "outputTokens"
  | "cacheReadTokens"
  | "cacheWriteTokens"
  | "reasoningTokens"
  | "costUsd"
  | "statedCostUsd"
  | "unpricedParts"
  | "durationMs"
>

/** Whether its cost leaves something out. What an answer states is the whole. */
export const isPartlyPriced = ({ statedCostUsd, unpricedParts }: Countable): boolean =>
  statedCostUsd === null && unpricedParts !== null && unpricedParts.length > 0
