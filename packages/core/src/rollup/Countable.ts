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
