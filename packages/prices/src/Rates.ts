/** The arithmetic of a price: each token is paid for once, by the most specific price that the list has for it. */
import type { ModelPrice } from "@pydantic/genai-prices"
import type { Usage } from "./Usage.ts"

const nanoDollarsPerDollar = 1e9

/** Dollars that a call costs by the prices of its model, or null where its counts contradict each other. */
export const nanoDollars = (prices: ModelPrice, usage: Usage): number | null => {
  if (usage.input_tokens === null || usage.output_tokens === null) return null
  const inputTokens = usage.input_tokens

  /** Dollars per unit: of the first of the keys that the list has a price for. A tier holds for the whole call. */
  const rate = (...keys: ReadonlyArray<string>): number => {
    const price = keys.map((key) => prices[key]).find((found) => found !== undefined)
    if (price === undefined || typeof price === "number") return price ?? 0
    return price.tiers.findLast(({ start }) => inputTokens > start)?.price ?? price.base
  }

  const audioRead = usage.cache_audio_read_tokens ?? 0
  const audio = (usage.input_audio_tokens ?? 0) - audioRead
  const read = (usage.cache_read_tokens ?? 0) - audioRead
  const writeForAnHour = usage.cache_write_1h_tokens ?? 0
  const write = (usage.cache_write_tokens ?? 0) - writeForAnHour
  const input = inputTokens - audio - audioRead - read - write - writeForAnHour

  const outputAudio = usage.output_audio_tokens ?? 0
  const outputImages = usage.output_image_tokens ?? 0
  const reasoning = prices["output_reasoning_mtok"] === undefined ? 0 : (usage.reasoning_tokens ?? 0)
  const output = usage.output_tokens - outputAudio - outputImages - reasoning

  const tokens: ReadonlyArray<readonly [count: number, dollarsPerMillion: number]> = [
    [input, rate("input_mtok")],
    [audio, rate("input_audio_mtok", "input_mtok")],
    [audioRead, rate("cache_audio_read_mtok", "cache_read_mtok", "input_audio_mtok", "input_mtok")],
    [read, rate("cache_read_mtok", "input_mtok")],
    [write, rate("cache_write_mtok", "input_mtok")],
    [writeForAnHour, rate("cache_write_1h_mtok", "cache_write_mtok", "input_mtok")],
    [output, rate("output_mtok")],
    [outputAudio, rate("output_audio_mtok", "output_mtok")],
    [outputImages, rate("output_image_mtok", "output_mtok")],
    [reasoning, rate("output_reasoning_mtok", "output_mtok")]
  ]
  if (tokens.some(([count]) => count < 0)) return null

  const perMillion = tokens.reduce((sum, [count, dollars]) => sum + count * dollars, 0) / 1e6
  const perThousand = (rate("requests_kcount") + (usage.web_searches ?? 0) * rate("web_searches_kcount")) / 1e3
  return Math.round((perMillion + perThousand) * nanoDollarsPerDollar)
}
