/** What of a call its price depends on. Facts and billing of `@tachograph/formats` together have this shape. */
export interface Usage {
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
  /** The part of `cache_read_tokens` and of `input_audio_tokens` that is both. */
  readonly cache_audio_read_tokens: number | null
  /** Parts of `output_tokens`. */
  readonly reasoning_tokens: number | null
  readonly output_audio_tokens: number | null
  readonly output_image_tokens: number | null
  /** How many times the provider searched the web. */
  readonly web_searches: number | null
  /** The tier that the provider says it served. */
  readonly service_tier: string | null
}
