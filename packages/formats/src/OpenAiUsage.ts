/** Tokens as OpenAI and those who speak its formats count them. */
import type { Json, RequestBilling } from "./Format.ts"
import { count, get, sum } from "./json/Read.ts"

/**
 * Counts of tokens. `output` includes the reasoning, which some providers count beside it: their total tells, or more
 * reasoning than output.
 */
export const tokensOf = (usage: Json | undefined) => {
  const input = count(get(usage, "prompt_tokens") ?? get(usage, "input_tokens"))
  const output = count(get(usage, "completion_tokens") ?? get(usage, "output_tokens"))
  const inputDetails = get(usage, "prompt_tokens_details") ?? get(usage, "input_tokens_details")
  const outputDetails = get(usage, "completion_tokens_details") ?? get(usage, "output_tokens_details")
  const reasoning = count(get(outputDetails, "reasoning_tokens")) ?? count(get(usage, "reasoning_tokens"))
  const isBeside =
    output !== null &&
    reasoning !== null &&
    reasoning > 0 &&
    (reasoning > output || get(usage, "total_tokens") === sum(input, output, reasoning))
  return {
    input,
    inputDetails,
    outputDetails,
    reasoning,
    output: isBeside ? sum(output, reasoning) : output,
    cacheRead:
      count(get(inputDetails, "cached_tokens")) ??
      count(get(usage, "prompt_cache_hit_tokens")) ??
      count(get(usage, "cached_tokens")) ??
      count(get(usage, "num_cached_tokens")) ??
      count(get(usage, "cache_read_input_tokens")),
    cacheWrite: count(get(inputDetails, "cache_write_tokens")) ?? count(get(usage, "cache_creation_input_tokens"))
  }
}

/** What is no text, of the details that `tokensOf` returns. */
export const modalitiesOf = (
  inputDetails: Json | undefined,
  outputDetails: Json | undefined
): Omit<
  RequestBilling,
  "cache_write_1h_tokens" | "citation_tokens" | "service_tier" | "uncounted" | `${string}_searches`
> => {
  const cached = get(inputDetails, "cached_tokens_details")
  return {
    input_audio_tokens: count(get(inputDetails, "audio_tokens")),
    input_image_tokens: count(get(inputDetails, "image_tokens")),
    input_video_tokens: count(get(inputDetails, "video_tokens")),
    cache_audio_read_tokens: count(get(cached, "audio_tokens")),
    cache_image_read_tokens: count(get(cached, "image_tokens")),
    output_audio_tokens: count(get(outputDetails, "audio_tokens")),
    output_image_tokens: count(get(outputDetails, "image_tokens")),
    output_video_tokens: count(get(outputDetails, "video_tokens"))
  }
}
