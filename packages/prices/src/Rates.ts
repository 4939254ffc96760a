/** The arithmetic of a price: each token is paid for once, by the most specific price that the list has for it. */
import type { ModelPrice } from "@pydantic/genai-prices"
import type { RequestUsage, UnpricedPart } from "./Usage.ts"

/** Dollars for a million tokens, or for a thousand of what is no token. A tier holds for the whole of a request above its start. */
type Rate = Exclude<ModelPrice[string], undefined>

/** The prices of a model. What has none costs as much as what it is a part of; null where it is known to cost something else. */
export interface Rates {
  readonly input: Rate
  readonly inputAudio: Rate | null
  readonly inputImage: Rate
  readonly inputVideo: Rate
  readonly cacheAudioRead: Rate | null
  readonly cacheImageRead: Rate
  readonly cacheRead: Rate
  readonly cacheWrite: Rate
  readonly cacheWrite1h: Rate | null
  readonly output: Rate
  readonly outputAudio: Rate | null
  readonly outputImage: Rate | null
  readonly outputVideo: Rate | null
  readonly outputReasoning: Rate
  readonly citation: Rate | null
  readonly request: Rate
  readonly webSearch: Rate | null
  /** For a request that searched the web, however often. */
  readonly searchingRequest: Rate
  readonly fileSearch: Rate | null
}

/** Prices of the list that nothing is paid by, and why. */
export const leftOut = {
  audio_hours: "of transcriptions, which no format has",
  input_audio_hours: "of transcriptions, which no format has",
  input_document_kpages: "of recognised documents, which no format has",
  input_annotated_document_kpages: "of recognised documents, which no format has",
  input_text_messages_kcount: "of sockets for speech, which no format has"
} as const

/** What the list does not say of a model's prices. */
export interface Known {
  /** Sounds that went in cost as much as texts where they have no price. */
  readonly isAudioAsText?: boolean
  /** All that comes out is of one kind, so that the price of output is its price. */
  readonly output?: "audio" | "images" | undefined
  /** Dollars for a thousand searches, and for a thousand requests that searched. */
  readonly webSearch?: number | undefined
  readonly searchingRequest?: number | undefined
}

/** To be called once for a model. */
export const ratesOf = (prices: ModelPrice, known: Known = {}): Rates => {
  const input = prices["input_mtok"] ?? 0
  const output = prices["output_mtok"] ?? 0
  // Of a model that costs nothing, nothing does.
  const unlisted = Object.values(prices).every((price) => price === 0) ? 0 : null
  const inputAudio = prices["input_audio_mtok"] ?? (known.isAudioAsText === true ? input : unlisted)
  const cacheRead = prices["cache_read_mtok"] ?? input
  const cacheWrite = prices["cache_write_mtok"] ?? input
  const webSearch = prices["web_searches_kcount"] ?? known.webSearch
  const searchingRequest = webSearch === undefined ? known.searchingRequest : 0
  return {
    input,
    inputAudio,
    inputImage: prices["input_image_mtok"] ?? input,
    inputVideo: prices["input_video_mtok"] ?? input,
    cacheAudioRead:
      prices["cache_audio_read_mtok"] ?? (inputAudio === null ? null : (prices["cache_read_mtok"] ?? inputAudio)),
    cacheImageRead: prices["cache_image_read_mtok"] ?? cacheRead,
    cacheRead,
    cacheWrite,
    cacheWrite1h: prices["cache_write_1h_mtok"] ?? unlisted,
    output,
    outputAudio: prices["output_audio_mtok"] ?? (known.output === "audio" ? output : unlisted),
    outputImage: prices["output_image_mtok"] ?? (known.output === "images" ? output : unlisted),
    outputVideo: prices["output_video_mtok"] ?? unlisted,
    outputReasoning: prices["output_reasoning_mtok"] ?? output,
    citation: prices["output_citation_mtok"] ?? unlisted,
    request: prices["requests_kcount"] ?? 0,
    webSearch: webSearch ?? (searchingRequest === undefined ? unlisted : 0),
    searchingRequest: searchingRequest ?? 0,
    fileSearch: prices["storage_searches_kcount"] ?? unlisted
  }
}

/** The tier is that of the input's length. */
const at = (rate: Rate, inputTokens: number): number =>
  typeof rate === "number" ? rate : (rate.tiers.findLast(({ start }) => inputTokens > start)?.price ?? rate.base)

/** What tokens of a request's input cost, in dollars for a million. */
export interface InputPrices {
  /** Neither read from the cache nor written to it. */
  readonly input: number
  /** Null where the list has no price for it, so that it costs as much as other input. */
  readonly cacheRead: number | null
  /** For five minutes. */
  readonly cacheWrite: number
}

export const inputPricesOf = ({ cacheRead, cacheWrite, input }: Rates, inputTokens: number): InputPrices => ({
  input: at(input, inputTokens),
  cacheRead: cacheRead === input ? null : at(cacheRead, inputTokens),
  cacheWrite: at(cacheWrite, inputTokens)
})

const perMillion = 1e6
const perThousand = 1e3
const nanoDollarsPerDollar = 1e9

export interface Amount {
  /** Billionths of a dollar. */
  readonly nanoDollars: number
  /** What is not in it. */
  readonly unpricedParts: ReadonlyArray<UnpricedPart>
}

/** The tokens of a request, each in one of these. Null if they were not counted, or their counts contradict each other. */
const split = (rates: Rates, usage: RequestUsage) => {
  const { input_tokens: all, output_tokens: answered } = usage
  if (all === null || answered === null) return null
  const { cache_read_tokens: read, cache_write_tokens: written, input_audio_tokens: heard } = usage
  // Where it is not said how much audio was cached, no more was than there must have been.
  const cacheAudioRead = usage.cache_audio_read_tokens ?? Math.max(0, (heard ?? 0) + (read ?? 0) + (written ?? 0) - all)
  const audio = (heard ?? 0) - cacheAudioRead
  // At the price of text, pictures need not be told apart.
  const cacheImageRead = rates.cacheImageRead === rates.cacheRead ? 0 : (usage.cache_image_read_tokens ?? 0)
  const seen = (usage.input_image_tokens ?? 0) - (usage.cache_image_read_tokens ?? 0)
  const image = rates.inputImage === rates.input ? 0 : seen
  const video = rates.inputVideo === rates.input ? 0 : (usage.input_video_tokens ?? 0)
  const cacheRead = (read ?? 0) - cacheAudioRead - cacheImageRead
  const cacheWrite1h = usage.cache_write_1h_tokens ?? 0
  const cacheWrite = (written ?? 0) - cacheWrite1h
  const input = all - audio - image - video - cacheAudioRead - cacheImageRead - cacheRead - cacheWrite - cacheWrite1h

  const outputAudio = usage.output_audio_tokens ?? 0
  const outputImage = usage.output_image_tokens ?? 0
  const outputVideo = usage.output_video_tokens ?? 0
  // At the price of output, reasoning need not be told apart, and may be audio.
  const reasoning = rates.outputReasoning === rates.output ? 0 : (usage.reasoning_tokens ?? 0)
  const output = answered - outputAudio - outputImage - outputVideo - reasoning
  if (Math.min(input, audio, image, video, cacheRead, cacheWrite, output) < 0) return null
  // In one literal: to spread two takes longer than to price them.
  return {
    input,
    audio,
    image,
    video,
    cacheAudioRead,
    cacheImageRead,
    cacheRead,
    cacheWrite,
    cacheWrite1h,
    output,
    outputAudio,
    outputImage,
    outputVideo,
    reasoning
  }
}

/** What a request costs. Null if its tokens were not counted, or its counts contradict each other. */
export const amountOf = (rates: Rates, usage: RequestUsage): Amount | null => {
  const tokens = split(rates, usage)
  if (tokens === null) return null
  const all = usage.input_tokens ?? 0
  const missing = new Set(usage.uncounted)
  const pay = (count: number, rate: Rate | null, part?: UnpricedPart): number => {
    if (count === 0) return 0
    if (rate !== null) return count * at(rate, all)
    missing.add(part!)
    return 0
  }
  const searches = usage.web_searches ?? 0
  const millionths =
    pay(tokens.input, rates.input) +
    pay(tokens.audio, rates.inputAudio, "audio") +
    pay(tokens.image, rates.inputImage) +
    pay(tokens.video, rates.inputVideo) +
    pay(tokens.cacheAudioRead, rates.cacheAudioRead, "audio") +
    pay(tokens.cacheImageRead, rates.cacheImageRead) +
    pay(tokens.cacheRead, rates.cacheRead) +
    pay(tokens.cacheWrite, rates.cacheWrite) +
    pay(tokens.cacheWrite1h, rates.cacheWrite1h, "cache_write_1h") +
    pay(tokens.output, rates.output) +
    pay(tokens.outputAudio, rates.outputAudio, "audio") +
    pay(tokens.outputImage, rates.outputImage, "images") +
    pay(tokens.outputVideo, rates.outputVideo, "video") +
    pay(tokens.reasoning, rates.outputReasoning) +
    pay(usage.citation_tokens ?? 0, rates.citation, "citations")
  const thousandths =
    pay(1, rates.request) +
    pay(searches, rates.webSearch, "web_search") +
    pay(searches > 0 ? 1 : 0, rates.searchingRequest) +
    pay(usage.file_searches ?? 0, rates.fileSearch, "file_search")
  const nanoDollars = Math.round((millionths / perMillion + thousandths / perThousand) * nanoDollarsPerDollar)
  return { nanoDollars, unpricedParts: missing.size === 0 ? none : Array.from(missing) }
}

const none: ReadonlyArray<UnpricedPart> = []
