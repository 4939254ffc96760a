/** What an answer itself says that the call cost, in US dollars. */
import type { Json } from "../Format.ts"
import { get, isObject, text } from "../json/Read.ts"

/** Of xAI. */
const ticksPerDollar = 1e10

/** A number of dollars, which some write as a text. */
const dollars = (value: Json | undefined): number | null => {
  const amount = typeof value === "string" && /^\d/.test(value) ? Number(value) : value
  return typeof amount === "number" && Number.isFinite(amount) && amount >= 0 ? amount : null
}

/** Providers write a key with underscores, and the AI SDK without. */
const either = (value: unknown, one: string, other: string): Json | undefined =>
  get(value, one) ?? get(value, other) ?? undefined

/** OpenRouter charges a fee alone where the provider is paid by a key of one's own. */
const withKeyOfOnesOwn = (usage: unknown, fee: number): number | null => {
  const upstream = either(
    either(usage, "cost_details", "costDetails"),
    "upstream_inference_cost",
    "upstreamInferenceCost"
  )
  const paid = dollars(upstream)
  return paid === null ? null : fee + paid
}

/** What is stated beside the counts of tokens: by OpenRouter, Perplexity, xAI, and gateways that do as OpenRouter does. */
export const ofUsage = (usage: unknown): number | null => {
  const ticks = dollars(either(usage, "cost_in_usd_ticks", "costInUsdTicks"))
  if (ticks !== null) return ticks / ticksPerDollar
  const cost = get(usage, "cost")
  const total = dollars(either(cost, "total_cost", "totalCost"))
  if (total !== null) return total
  const charged = dollars(cost)
  return charged === null || either(usage, "is_byok", "isByok") !== true ? charged : withKeyOfOnesOwn(usage, charged)
}

/** Whether the last provider that a gateway tried was paid by a key of one's own: then the gateway charges nothing. */
const isByok = (gateway: Json | undefined): boolean => {
  const attempts = get(gateway, "routing", "attempts")
  const last = Array.isArray(attempts) ? (attempts.at(-1) as Json | undefined) : undefined
  return text(get(last, "credentialType")) === "byok"
}

/** What is stated in the metadata that providers have in the AI SDK, and Vercel's gateway in every format. */
export const ofMetadata = (metadata: unknown): number | null => {
  if (!isObject(metadata)) return null
  const gateway = get(metadata, "gateway")
  const charged = isByok(gateway) ? null : dollars(get(gateway, "cost"))
  return (
    charged ??
    ofUsage(get(metadata, "openrouter", "usage")) ??
    ofUsage(get(metadata, "xai")) ??
    ofUsage(get(metadata, "perplexity"))
  )
}

const ofHolder = (value: unknown): number | null => ofMetadata(either(value, "provider_metadata", "providerMetadata"))

/** Of an answer with its usage, in a provider's own format. */
export const of = (output: unknown, usage: unknown): number | null =>
  ofUsage(usage) ?? ofHolder(output) ?? ofHolder(get(output, "choices", 0, "message"))
