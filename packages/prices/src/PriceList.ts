/** Finds the price of a call in the kept list of `@pydantic/genai-prices`, or in prices of your own. */
import { calcPrice } from "@pydantic/genai-prices"
import * as ListDates from "./ListDates.ts"
import type { PriceFile } from "./PriceFile.ts"
import { nanoDollars, type Rates, ratesOf } from "./Rates.ts"
import type { Usage } from "./Usage.ts"

/**
 * Why a call has no price: it is not known which model it was (`no-model`); the counts of tokens are missing (`no-usage`) or
 * contradict each other (`usage-invalid`); the list does not know the model (`unknown-model`); or the call was served by a
 * tier, such as `batch`, whose prices the list does not have (`service-tier`).
 */
export type Unpriced = "no-model" | "no-usage" | "usage-invalid" | "unknown-model" | "service-tier"

export type Cost =
  | {
      /** Billionths of a US dollar. */
      readonly nanoDollars: number
      /** The provider and the model of the price, such as `openai/gpt-4o`. */
      readonly price: string
      /** Whether the price is that of the very model, and not of an alias, a family or another provider. */
      readonly isExact: boolean
    }
  | { readonly unpriced: Unpriced }

export interface PriceList {
  /** As `ListDates` says. */
  readonly date: string
  /** Returns what a call at a time costs. Never throws. */
  readonly cost: (usage: Usage, at: Date) => Cost
}

interface Found {
  readonly price: string
  readonly isExact: boolean
  readonly rates: Rates
  /** The minute since 1970 that the prices hold for. Null where they always hold. */
  readonly minute: number | null
}

/** Tiers at the price of the list, under the names that providers give them. */
const standardTiers = new Set(["default", "standard", "auto", "on_demand", "traffic_type_unspecified"])

/** Longer names are not looked for: no model has one. */
const maxNameLength = 255

/** Names that are cached. A name is some hundred bytes, so that the cache stays below a megabyte. */
const maxCached = 1000

const minuteOf = (at: Date): number => Math.floor(at.getTime() / 60_000)

const noUsage = { input_tokens: 0, output_tokens: 0 }

/** A router's name of a model, without the provider before it: `openai/gpt-4o`. */
const routed = /^[^/]+\/([^/]+)$/

const findKept = (provider: string | null, model: string, at: Date): Found | null => {
  const ofProvider = (name: string | undefined) =>
    provider === null || name === undefined ? null : calcPrice(noUsage, name, { providerId: provider, timestamp: at })
  const found = ofProvider(model) ?? ofProvider(routed.exec(model)?.[1]) ?? calcPrice(noUsage, model, { timestamp: at })
  if (found === null) return null
  return {
    price: `${found.provider.id}/${found.model.id}`,
    isExact: found.provider.id === provider && found.model.id.toLowerCase() === model,
    rates: ratesOf(found.model_price),
    minute: Array.isArray(found.model.prices) ? minuteOf(at) : null
  }
}

const findOwn = (own: PriceFile, provider: string | null, model: string): Found | null => {
  const found = own.prices.find(
    (price) =>
      (price.provider === null || price.provider === provider) &&
      (price.isPrefix ? model.startsWith(price.model) : model === price.model)
  )
  if (found === undefined) return null
  const name = `${found.model}${found.isPrefix ? "*" : ""}`
  return {
    price: `own:${found.provider === null ? "" : `${found.provider}/`}${name}`,
    isExact: !found.isPrefix,
    rates: ratesOf(found.prices),
    minute: null
  }
}

/** Returns a list of the kept prices, with those of `own` before them. */
export const make = (own: PriceFile | null = null): PriceList => {
  const cache = new Map<string, Found | null>()

  const find = (provider: string | null, model: string, at: Date): Found | null => {
    const key = `${provider ?? ""}\n${model}`
    const cached = cache.get(key)
    if (cached === null || (cached !== undefined && (cached.minute ?? minuteOf(at)) === minuteOf(at))) return cached
    const found = (own === null ? null : findOwn(own, provider, model)) ?? findKept(provider, model, at)
    if (cache.size >= maxCached) cache.clear()
    cache.set(key, found)
    return found
  }

  return {
    date: ListDates.of(own),
    cost: (usage, at) => {
      const names = [usage.response_model, usage.model].filter((name) => name !== null)
      if (names.length === 0) return { unpriced: "no-model" }
      if (usage.service_tier !== null && !standardTiers.has(usage.service_tier.toLowerCase())) {
        return { unpriced: "service-tier" }
      }
      if (usage.input_tokens === null || usage.output_tokens === null) return { unpriced: "no-usage" }
      const provider = usage.provider?.toLowerCase() ?? null
      for (const name of names) {
        const found = name.length > maxNameLength ? null : find(provider, name.toLowerCase().trim(), at)
        if (found === null) continue
        const amount = nanoDollars(found.rates, usage)
        if (amount === null || !Number.isSafeInteger(amount)) return { unpriced: "usage-invalid" }
        // The model that was asked for may not be the one that answered.
        return { nanoDollars: amount, price: found.price, isExact: found.isExact && name === names[0] }
      }
      return { unpriced: "unknown-model" }
    }
  }
}
