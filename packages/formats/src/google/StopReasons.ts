/** Why Gemini stopped, by Google's own words. A word that is not here is `other`. */
import type { StopReason } from "../Format.ts"

const each = (words: ReadonlyArray<string>, reason: StopReason) => words.map((word) => [word, reason] as const)

const filters = ["SAFETY", "RECITATION", "PROHIBITED_CONTENT"].flatMap((word) => [word, `IMAGE_${word}`])

const failures = ["MALFORMED_FUNCTION_CALL", "MALFORMED_RESPONSE", "MISSING_THOUGHT_SIGNATURE", "UNEXPECTED_TOOL_CALL"]

export const stopReasons: ReadonlyMap<string, StopReason> = new Map([
  ["STOP", "end"],
  ["MAX_TOKENS", "length"],
  ["CONTINUATION", "pause"],
  ...each([...filters, "BLOCKLIST", "SPII", "MODEL_ARMOR"], "content_filter"),
  ...each([...failures, "TOO_MANY_TOOL_CALLS"], "error")
])
