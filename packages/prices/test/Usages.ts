import type { Usage } from "@tachograph/prices"

/** A usage that says nothing. */
export const nothing: Usage = {
  provider: null,
  model: null,
  response_model: null,
  input_tokens: null,
  output_tokens: null,
  cache_read_tokens: null,
  cache_write_tokens: null,
  cache_write_1h_tokens: null,
  input_audio_tokens: null,
  input_image_tokens: null,
  input_video_tokens: null,
  cache_audio_read_tokens: null,
  cache_image_read_tokens: null,
  reasoning_tokens: null,
  output_audio_tokens: null,
  output_image_tokens: null,
  output_video_tokens: null,
  citation_tokens: null,
  web_searches: null,
  file_searches: null,
  uncounted: [],
  service_tier: null,
  requests: null
}

/** A usage with something of everything that is counted. */
export const everything: Usage = {
  ...nothing,
  ...{ input_tokens: 100_000, cache_read_tokens: 30_000, cache_write_tokens: 20_000, cache_write_1h_tokens: 10_000 },
  ...{ input_audio_tokens: 10_000, input_image_tokens: 10_000, input_video_tokens: 10_000 },
  ...{ cache_audio_read_tokens: 5_000, cache_image_read_tokens: 5_000 },
  ...{ output_tokens: 100_000, reasoning_tokens: 10_000, output_audio_tokens: 10_000 },
  ...{ output_image_tokens: 10_000, output_video_tokens: 10_000 },
  ...{ citation_tokens: 10_000, web_searches: 10, file_searches: 10 }
}
