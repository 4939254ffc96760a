/** How Anthropic counts what a call took, and says at which prices it served it. */
import type { Facts, Json, JsonObject, Request, RequestBilling } from "./Format.ts"
import { count, get, isObject, list, text } from "./json/Read.ts"

export type Tokens = Pick<
  Facts,
  "input_tokens" | "output_tokens" | "cache_read_tokens" | "cache_write_tokens" | "reasoning_tokens"
>

/** What a request was served in: fast mode, or one country only, has prices of its own, beside those of the tier. */
export const tierOf = (usage: unknown): string | null => {
  if (get(usage, "speed") === "fast") return "fast"
  return get(usage, "inference_geo") === "us" ? "us" : text(get(usage, "service_tier"))
}

/** The sum of counts of which some may be missing. Null where one is no count: then the sum is not known. */
const total = (values: ReadonlyArray<Json | undefined>): number | null => {
  let known: number | null = null
  for (const value of values) {
    if (value === undefined || value === null) continue
    const counted = count(value)
    if (counted === null) return null
    known = (known ?? 0) + counted
  }
  return count(known)
}

/** What was written to the cache, by how long it is kept. */
const creationOf = (usage: Json): JsonObject => {
  const creation = get(usage, "cache_creation")
  return isObject(creation) ? creation : {}
}

const cacheWriteOf = (usage: Json): Json | undefined => {
  const written = get(usage, "cache_creation_input_tokens")
  const { ephemeral_1h_input_tokens: hour, ephemeral_5m_input_tokens: minutes } = creationOf(usage)
  return written ?? total([minutes, hour])
}

const iterationsOf = (usage: Json | undefined, type: string): ReadonlyArray<Json> =>
  list(get(usage, "iterations")).filter((iteration) => get(iteration, "type") === type)

/** The usages of the model that are paid for. The provider's own sum leaves out what it spent on compacting the conversation. */
export const paidOf = (usage: Json | undefined): ReadonlyArray<Json> =>
  isObject(usage) ? [usage, ...iterationsOf(usage, "compaction")] : []

export const sumOf = (usages: ReadonlyArray<Json>): Tokens => {
  const read = usages.map((usage) => get(usage, "cache_read_input_tokens"))
  const written = usages.map(cacheWriteOf)
  const fresh = usages.map((usage) => get(usage, "input_tokens"))
  const answered = usages.map((usage) => get(usage, "output_tokens"))
  return {
    // What was read from a cache or written to it is not in the provider's `input_tokens`.
    input_tokens: count(fresh[0]) === null ? null : total([...fresh, ...read, ...written]),
    output_tokens: count(answered[0]) === null ? null : total(answered),
    cache_read_tokens: total(read),
    cache_write_tokens: total(written),
    reasoning_tokens: total(usages.map((usage) => get(usage, "output_tokens_details", "thinking_tokens")))
  }
}

const hourOf = (usages: ReadonlyArray<Json>): number | null =>
  total(usages.map((usage) => creationOf(usage)["ephemeral_1h_input_tokens"]))

const noModality = {
  input_audio_tokens: null,
  input_image_tokens: null,
  input_video_tokens: null,
  cache_audio_read_tokens: null,
  cache_image_read_tokens: null,
  output_audio_tokens: null,
  output_image_tokens: null,
  output_video_tokens: null
}

/** Of the model's requests together. */
export const billingOf = (usage: Json | undefined): RequestBilling => ({
  service_tier: tierOf(usage),
  cache_write_1h_tokens: hourOf(paidOf(usage)),
  ...noModality,
  citation_tokens: null,
  web_searches: count(get(usage, "server_tool_use", "web_search_requests")),
  file_searches: null,
  uncounted: iterationsOf(usage, "advisor_message").every((iteration) => text(get(iteration, "model")) !== null)
    ? []
    : ["advisor"]
})

/**
 * The requests that were made for one answer, if there are several: those of the model and those that compacted the conversation,
 * together `all`, and those of an advisor, which is another model. The first has what is not said of each.
 */
export const requestsOf = (
  usage: Json | undefined,
  all: Pick<Tokens, "input_tokens" | "output_tokens">
): ReadonlyArray<Request> | null => {
  if (list(get(usage, "iterations")).length === 0) return null
  const each = [...iterationsOf(usage, "message"), ...iterationsOf(usage, "compaction")]
  const sum = sumOf(each)
  const isWhole = sum.input_tokens === all.input_tokens && sum.output_tokens === all.output_tokens
  const own = isWhole ? each : count(get(usage, "input_tokens")) === null ? [] : paidOf(usage)
  const advisors = iterationsOf(usage, "advisor_message").filter((advice) => text(get(advice, "model")) !== null)
  if (own.length === 0 || own.length + advisors.length === 1) return null
  const billing = billingOf(usage)
  return [...own, ...advisors].map((request, index) => ({
    ...billing,
    ...(index === 0 ? {} : { web_searches: null, uncounted: [] }),
    provider: null,
    model: null,
    response_model: text(get(request, "model")),
    ...sumOf([request]),
    cache_write_1h_tokens: hourOf([request])
  }))
}
