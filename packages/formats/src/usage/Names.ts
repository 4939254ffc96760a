/**
 * Every name that providers, gateways and SDKs have for a count of tokens, whatever the format: a dialect of one format is spoken in the
 * others too.
 */

/** What is counted. */
export type Count =
  /** All that went in; and what is called so in OpenAI's responses, and is without the cache elsewhere. */
  | "prompt"
  | "input"
  | "fresh"
  | "output"
  | "spoken"
  | "total"
  | "toolUse"
  /** What was read from a cache: under a name of OpenAI's, who counts it within the input, and of Anthropic's, who counts it beside. */
  | "cached"
  | "read"
  /** What was written to a cache, alike, and the parts of it that are kept for five minutes and for an hour. */
  | "written"
  | "created"
  | "written5m"
  | "written1h"
  /** What was thought: under a name of OpenAI's, who counts it within the output, and of Google's, who counts it beside. */
  | "reasoning"
  | "thoughts"
  /** What is no text; of what tools read, beside the others. */
  | "inputAudio"
  | "inputImage"
  | "inputVideo"
  | "toolUseAudio"
  | "toolUseImage"
  | "toolUseVideo"
  | "readAudio"
  | "readImage"
  | "outputAudio"
  | "outputImage"
  | "outputVideo"
  | "citations"

export interface Names {
  readonly counts: ReadonlyMap<string, Count>
  /** Objects of counts, and lists of counts whose elements say what they are of: `modality` or `ttl`. */
  readonly groups: ReadonlyMap<string, Names>
}

type Named = Readonly<Partial<Record<Count, ReadonlyArray<string>>>>

const names = (counts: Named, ...groups: ReadonlyArray<readonly [names: Names, ...keys: ReadonlyArray<string>]>) => ({
  counts: new Map(Object.entries(counts).flatMap(([count, keys]) => keys.map((key) => [key, count as Count] as const))),
  groups: new Map(groups.flatMap(([group, ...keys]) => keys.map((key) => [key, group] as const)))
})

const written = names({
  written5m: ["ephemeral_5m_input_tokens", "5m"],
  written1h: ["ephemeral_1h_input_tokens", "1h"]
})

const read = names({
  readAudio: ["audio_tokens", "audioTokens", "audio"],
  readImage: ["image_tokens", "imageTokens", "image"]
})

const input = names(
  {
    input: ["total"],
    fresh: ["noCacheTokens", "noCache"],
    cached: [
      ...["cached_tokens", "cache_read_tokens", "cache_read_input_tokens", "cache_read"],
      ...["cachedTokens", "cacheReadTokens", "cacheRead"]
    ],
    written: [
      ...["cache_write_tokens", "cache_creation_tokens", "cache_creation_input_tokens", "cache_creation"],
      ...["cacheWriteTokens", "cacheWrite"]
    ],
    written5m: ["ephemeral_5m_input_tokens", "cache_write_5m_tokens"],
    written1h: ["ephemeral_1h_input_tokens", "cache_write_1h_tokens"],
    inputAudio: ["audio_tokens", "audioTokens", "audio"],
    inputImage: ["image_tokens", "imageTokens", "image"],
    inputVideo: ["video_tokens", "videoTokens", "video"]
  },
  [read, "cached_tokens_details"],
  [written, "cache_creation_token_details", "cache_creation"]
)

const output = names({
  output: ["total"],
  spoken: ["text"],
  reasoning: ["reasoning_tokens", "thinking_tokens", "reasoningTokens", "reasoning"],
  outputAudio: ["audio_tokens", "audioTokens", "audio"],
  outputImage: ["image_tokens", "imageTokens", "image"],
  outputVideo: ["video_tokens", "videoTokens", "video"]
})

/** Google's, whose text is one modality of several. */
const answered = names({ outputAudio: ["audio"], outputImage: ["image"], outputVideo: ["video"] })

/** The names in a usage. */
export const ofUsage: Names = names(
  {
    prompt: ["prompt_tokens", "promptTokens", "promptTokenCount", "prompt_token_count", "total_input_tokens"],
    input: ["input_tokens", "inputTokens", "inputTokenCount"],
    output: [
      ...["completion_tokens", "output_tokens", "completionTokens", "outputTokens", "outputTokenCount"],
      ...["candidatesTokenCount", "candidates_token_count", "total_output_tokens"]
    ],
    total: ["total_tokens", "totalTokens", "totalTokenCount", "total_token_count"],
    toolUse: ["toolUsePromptTokenCount", "tool_use_prompt_token_count", "total_tool_use_tokens"],
    cached: [
      ...["cached_tokens", "num_cached_tokens", "prompt_cache_hit_tokens", "cached_input_tokens"],
      ...["cachedContentTokenCount", "cached_content_token_count", "total_cached_tokens"],
      ...["cachedInputTokens", "cacheReadTokens", "cachedPromptTokens", "promptCacheHitTokens"]
    ],
    read: ["cache_read_input_tokens", "cacheReadInputTokens", "cacheReadInputTokenCount"],
    written: ["cache_write_tokens", "cache_creation_tokens", "cacheWriteTokens"],
    created: [
      ...["cache_creation_input_tokens", "cacheCreationInputTokens"],
      ...["cache_write_input_tokens", "cacheWriteInputTokens", "cacheWriteInputTokenCount"]
    ],
    written5m: ["claude_cache_creation_5_m_tokens"],
    written1h: ["claude_cache_creation_1_h_tokens"],
    reasoning: ["reasoning_tokens", "reasoning_output_tokens", "reasoningTokens"],
    thoughts: ["thoughtsTokenCount", "thoughts_token_count", "total_thought_tokens"],
    citations: ["citation_tokens"]
  },
  [input, "prompt_tokens_details", "input_tokens_details", "prompt_token_details", "input_token_details"],
  [input, "promptTokensDetails", "inputTokensDetails", "inputTokenDetails", "inputTokens", "input_tokens_by_modality"],
  [output, "completion_tokens_details", "output_tokens_details", "completion_token_details", "output_token_details"],
  [output, "completionTokensDetails", "outputTokensDetails", "outputTokenDetails", "outputTokens"],
  [answered, "candidatesTokensDetails", "candidates_tokens_details", "output_tokens_by_modality"],
  [
    names({ toolUseAudio: ["audio"], toolUseImage: ["image"], toolUseVideo: ["video"] }),
    ...["toolUsePromptTokensDetails", "tool_use_prompt_tokens_details", "tool_use_tokens_by_modality"]
  ],
  [read, "cacheTokensDetails", "cache_tokens_details", "cached_tokens_by_modality"],
  [written, "cache_creation", "cacheDetails"]
)
