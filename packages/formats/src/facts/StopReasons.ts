/** Why Anthropic's and Google's models stopped, by their own words. A word that is not here is `other`. */
import type { StopReason } from "../Format.ts"

/** Statuses of a response or an interaction that has not stopped. */
export const running: ReadonlySet<string> = new Set(["queued", "in_progress"])

const each = (words: ReadonlyArray<string>, reason: StopReason) => words.map((word) => [word, reason] as const)

export const ofMessages: ReadonlyMap<string, StopReason> = new Map([
  ["end_turn", "end"],
  ["stop_sequence", "end"],
  ["max_tokens", "length"],
  ["model_context_window_exceeded", "length"],
  ["tool_use", "tool_calls"],
  ["pause_turn", "pause"],
  ["compaction", "pause"],
  ["refusal", "refusal"]
])

const filters = ["SAFETY", "RECITATION", "PROHIBITED_CONTENT"].flatMap((word) => [word, `IMAGE_${word}`])

const failures = ["MALFORMED_FUNCTION_CALL", "MALFORMED_RESPONSE", "MISSING_THOUGHT_SIGNATURE", "UNEXPECTED_TOOL_CALL"]

export const ofModels: ReadonlyMap<string, StopReason> = new Map([
  ["STOP", "end"],
  ["MAX_TOKENS", "length"],
  ["CONTINUATION", "pause"],
  ...each([...filters, "BLOCKLIST", "SPII", "MODEL_ARMOR"], "content_filter"),
  ...each([...failures, "TOO_MANY_TOOL_CALLS"], "error")
])
