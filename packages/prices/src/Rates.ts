/** The arithmetic of a price: each token is paid for once, by the most specific price that the list has for it. */
import type { ModelPrice } from "@pydantic/genai-prices"
import type { Usage } from "./Usage.ts"

/** Dollars for a million tokens, or for a thousand of what is no token. A tier holds for the whole of a call above its start. */
type Rate = Exclude<ModelPrice[string], undefined>

/** The prices of a model, each of them present: what the list has no price for costs as much as what it is a part of. */
export interface Rates {
  readonly input: Rate
  readonly inputAudio: Rate
  readonly cacheAudioRead: Rate
  readonly cacheRead: Rate
  readonly cacheWrite: Rate
  readonly cacheWrite1h: Rate
  readonly output: Rate
  readonly outputAudio: Rate
  readonly outputImage: Rate
  readonly outputReasoning: Rate
  readonly request: Rate
  readonly webSearch: Rate
}

/** To be called once for a model. */
export const ratesOf = (prices: ModelPrice): Rates => {
  const input = prices["input_mtok"] ?? 0
  const output = prices["output_mtok"] ?? 0
  const inputAudio = prices["input_audio_mtok"] ?? input
  const cacheWrite = prices["cache_write_mtok"] ?? input
  return {
    input,
    inputAudio,
    cacheAudioRead: prices["cache_audio_read_mtok"] ?? prices["cache_read_mtok"] ?? inputAudio,
    cacheRead: prices["cache_read_mtok"] ?? input,
    cacheWrite,
    cacheWrite1h: prices["cache_write_1h_mtok"] ?? cacheWrite,
    output,
    outputAudio: prices["output_audio_mtok"] ?? output,
    outputImage: prices["output_image_mtok"] ?? output,
    outputReasoning: prices["output_reasoning_mtok"] ?? output,
    request: prices["requests_kcount"] ?? 0,
    webSearch: prices["web_searches_kcount"] ?? 0
  }
}

/** The tier is that of the input's length. */
const at = (rate: Rate, inputTokens: number): number =>
  typeof rate === "number" ? rate : (rate.tiers.findLast(({ start }) => inputTokens > start)?.price ?? rate.base)

const perMillion = 1e6
const perThousand = 1e3
const nanoDollarsPerDollar = 1e9

/** What a call costs, in billionths of a dollar. Null if its tokens were not counted, or its counts contradict each other. */
export const nanoDollars = (rates: Rates, usage: Usage): number | null => {
  const { input_tokens: all, output_tokens: answered } = usage
  if (all === null || answered === null) return null
  const { cache_read_tokens: read, cache_write_tokens: written, input_audio_tokens: heard } = usage
  // Where it is not said how much audio was cached, no more was than there must have been.
  const cacheAudioRead = usage.cache_audio_read_tokens ?? Math.max(0, (heard ?? 0) + (read ?? 0) + (written ?? 0) - all)
  const audio = (heard ?? 0) - cacheAudioRead
  const cacheRead = (read ?? 0) - cacheAudioRead
  const cacheWrite1h = usage.cache_write_1h_tokens ?? 0
  const cacheWrite = (written ?? 0) - cacheWrite1h
  const input = all - audio - cacheAudioRead - cacheRead - cacheWrite - cacheWrite1h

  const outputAudio = usage.output_audio_tokens ?? 0
  const outputImage = usage.output_image_tokens ?? 0
  // At the price of output, reasoning need not be told apart, and may be audio.
  const reasoning = rates.outputReasoning === rates.output ? 0 : (usage.reasoning_tokens ?? 0)
  const output = answered - outputAudio - outputImage - reasoning
  if (Math.min(input, audio, cacheRead, cacheWrite, output) < 0) return null

  const tokens =
    input * at(rates.input, all) +
    audio * at(rates.inputAudio, all) +
    cacheAudioRead * at(rates.cacheAudioRead, all) +
    cacheRead * at(rates.cacheRead, all) +
    cacheWrite * at(rates.cacheWrite, all) +
    cacheWrite1h * at(rates.cacheWrite1h, all) +
    output * at(rates.output, all) +
    outputAudio * at(rates.outputAudio, all) +
    outputImage * at(rates.outputImage, all) +
    reasoning * at(rates.outputReasoning, all)
  const others = at(rates.request, all) + (usage.web_searches ?? 0) * at(rates.webSearch, all)
  return Math.round((tokens / perMillion + others / perThousand) * nanoDollarsPerDollar)
}
