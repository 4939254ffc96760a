/** What of one request its price depends on. Facts and billing of `@tachograph/formats` together have this shape. */
export interface RequestUsage {
  /** The provider as the price list names it, such as `openai`. Null where only the model is known. */
  readonly provider: string | null
  /** The model that was asked for. */
  readonly model: string | null
  /** The model that answered; it is priced where it is known. */
  readonly response_model: string | null
  /** All tokens that went in. */
  readonly input_tokens: number | null
  /** All tokens that came out. */
  readonly output_tokens: number | null
  /** Parts of `input_tokens`. */
  readonly cache_read_tokens: number | null
  readonly cache_write_tokens: number | null
  /** The part of `cache_write_tokens` that is kept for an hour. */
  readonly cache_write_1h_tokens: number | null
  readonly input_audio_tokens: number | null
  readonly input_image_tokens: number | null
  readonly input_video_tokens: number | null
  /** The parts of `cache_read_tokens` that are parts of these as well. */
  readonly cache_audio_read_tokens: number | null
  readonly cache_image_read_tokens: number | null
  /** Parts of `output_tokens`. */
  readonly reasoning_tokens: number | null
  readonly output_audio_tokens: number | null
  readonly output_image_tokens: number | null
  readonly output_video_tokens: number | null
  /** Tokens of sources, which are counted beside all others. */
  readonly citation_tokens: number | null
  /** How many times the provider searched the web, and the application's files. */
  readonly web_searches: number | null
  readonly file_searches: number | null
  /** What else is paid for, and not counted. */
  readonly uncounted: ReadonlyArray<UnpricedPart>
  /** The tier that the provider says it served. */
  readonly service_tier: string | null
}

/** What of a call its price depends on. */
export interface Usage extends RequestUsage {
  /** The requests that the call made, each of which has a price of its own; null where it made one. */
  readonly requests: ReadonlyArray<RequestUsage> | null
}

/** A part of a call that can cost something and has no price. */
export type UnpricedPart =
  | "audio"
  | "images"
  | "video"
  | "cache_write_1h"
  | "citations"
  | "web_search"
  | "file_search"
  | "code_interpreter"
  | "maps"
  | "advisor"
