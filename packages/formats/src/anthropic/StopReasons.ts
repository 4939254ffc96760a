/** Why Anthropic's models stopped, by their own words. A word that is not here is `other`. */
import type { StopReason } from "../Format.ts"

export const stopReasons: ReadonlyMap<string, StopReason> = new Map([
  ["end_turn", "end"],
  ["stop_sequence", "end"],
  ["max_tokens", "length"],
  ["model_context_window_exceeded", "length"],
  ["tool_use", "tool_calls"],
  ["pause_turn", "pause"],
  ["compaction", "pause"],
  ["refusal", "refusal"]
])
