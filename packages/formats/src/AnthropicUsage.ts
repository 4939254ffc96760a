/** How Anthropic says at which prices it served a call. */
import { get, text } from "./json/Read.ts"

/** What a request was served in: fast mode, or one country only, has prices of its own, beside those of the tier. */
export const tierOf = (usage: unknown): string | null => {
  if (get(usage, "speed") === "fast") return "fast"
  return get(usage, "inference_geo") === "us" ? "us" : text(get(usage, "service_tier"))
}
