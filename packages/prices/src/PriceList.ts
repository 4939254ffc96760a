/** Finds the price of a call in the kept list of `@pydantic/genai-prices`, or in prices of your own. */
import * as KeptPrices from "./KeptPrices.ts"
import * as ListDates from "./ListDates.ts"
import type { PriceFile } from "./PriceFile.ts"
import { amountOf, type InputPrices, inputPricesOf, ratesOf } from "./Rates.ts"
import type { RequestUsage, UnpricedPart, Usage } from "./Usage.ts"

/**
 * Why a call has no price: it is not known which model it was (`no-model`); the counts of tokens are missing (`no-usage`) or
 * contradict each other (`usage-invalid`); the list does not know the model (`unknown-model`); or the call was served by a
 * tier, such as `batch`, whose prices the list does not have (`service-tier`).
 */
export type Unpriced = "no-model" | "no-usage" | "usage-invalid" | "unknown-model" | "service-tier"

export interface Priced {
  /** Billionths of a US dollar. */
  readonly nanoDollars: number
  /** The provider and the model of the price, such as `openai/gpt-4o`; several where requests of the call have several. */
  readonly price: string
  /** Whether the price is that of the very model, and not of an alias, a family or another provider, and nothing is left out. */
  readonly isExact: boolean
  /** What the call pays for besides, and the list has no price for. */
  readonly unpricedParts: ReadonlyArray<UnpricedPart>
}

export type Cost = Priced | { readonly unpriced: Unpriced }

/** What names the price of a request, and its tier. */
export type Named = Pick<RequestUsage, "provider" | "model" | "response_model" | "input_tokens">

export interface PriceList {
  /** As `ListDates` says. */
  readonly date: string
  /** Returns what a call at a time costs. Never throws. */
  readonly cost: (usage: Usage, at: Date) => Cost
  /**
   * Returns by what the input of a call was priced whose cost has this `price`: null where that is another one today, as that of several
   * requests is. Never throws.
   */
  readonly inputPrices: (call: Named & { readonly price: string }, at: Date) => InputPrices | null
}

type FoundPrice = KeptPrices.FoundPrice

/** Tiers at the price of the list, under the names that providers give them. */
const standardTiers = new Set(["default", "standard", "auto", "on_demand", "traffic_type_unspecified"])

/** Longer names are not looked for: no model has one. */
const maxNameLength = 255

/** Names that are cached. A name is some hundred bytes, so that the cache stays below a megabyte. */
const maxCached = 1000

const findOwn = (own: PriceFile, provider: string | null, model: string): FoundPrice | null => {
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
    isOwn: true,
    rates: ratesOf(found.prices),
    minute: null
  }
}

const wordsOf = (name: string): string => name.replace(/[^a-z0-9]+/g, "-")

/** Whether the name that was asked for is that of the model that answered, and says more, such as a profile of Bedrock's. */
const saysMore = (asked: string, answered: string): boolean =>
  asked.length > answered.length && wordsOf(asked).includes(wordsOf(answered))

/** The price of the model that answered, else of the one that was asked for, which may not be the same. */
const choose = ({ model, response_model }: Named, find: (name: string) => FoundPrice | null): FoundPrice | null => {
  const answer = response_model === null ? null : find(response_model)
  if (model === null || model === response_model) return answer
  const asked = find(model)
  if (response_model === null || asked === null) return asked ?? answer
  const isFuller = saysMore(model.toLowerCase(), response_model.toLowerCase())
  const isAsked = isFuller && (asked.isExact || answer?.isExact !== true)
  if (answer !== null && (answer.isOwn === asked.isOwn ? !isAsked : answer.isOwn === true)) return answer
  return isFuller ? asked : { ...asked, isExact: false }
}

type Find = (provider: string | null, name: string) => FoundPrice | null

const foundOf = (call: Named, find: Find): FoundPrice | null => {
  const provider = call.provider?.toLowerCase() ?? null
  return choose(call, (name) => (name.length > maxNameLength ? null : find(provider, name.toLowerCase().trim())))
}

const costOf = (usage: RequestUsage, find: Find): Cost => {
  if (usage.response_model === null && usage.model === null) return { unpriced: "no-model" }
  if (usage.service_tier !== null && !standardTiers.has(usage.service_tier.toLowerCase())) {
    return { unpriced: "service-tier" }
  }
  if (usage.input_tokens === null || usage.output_tokens === null) return { unpriced: "no-usage" }
  const found = foundOf(usage, find)
  if (found === null) return { unpriced: "unknown-model" }
  const { besides } = found
  const all = besides === undefined ? usage : { ...usage, uncounted: [...usage.uncounted, besides] }
  const amount = amountOf(found.rates, all)
  if (amount === null) return { unpriced: "usage-invalid" }
  const { nanoDollars, unpricedParts } = amount
  return { nanoDollars, price: found.price, isExact: found.isExact && unpricedParts.length === 0, unpricedParts }
}

/** Returns a list of the kept prices, with those of `own` before them. */
export const make = (own: PriceFile | null = null): PriceList => {
  const cache = new Map<string, FoundPrice | null>()

  const find = (provider: string | null, model: string, at: Date): FoundPrice | null => {
    const key = `${provider ?? ""}\n${model}`
    const cached = cache.get(key)
    if (
      cached === null ||
      (cached !== undefined && (cached.minute ?? KeptPrices.minuteOf(at)) === KeptPrices.minuteOf(at))
    ) {
      return cached
    }
    const found = (own === null ? null : findOwn(own, provider, model)) ?? KeptPrices.find(provider, model, at)
    if (cache.size >= maxCached) cache.clear()
    cache.set(key, found)
    return found
  }

  return {
    date: ListDates.of(own),
    cost: (usage, at) => {
      const ofRequest = (request: RequestUsage) => costOf(request, (provider, name) => find(provider, name, at))
      return usage.requests === null ? checked(ofRequest(usage)) : sumOf(usage.requests, ofRequest)
    },
    inputPrices: (call, at) => {
      const found = foundOf(call, (provider, name) => find(provider, name, at))
      return found?.price === call.price && call.input_tokens !== null
        ? inputPricesOf(found.rates, call.input_tokens)
        : null
    }
  }
}

const checked = (cost: Cost): Cost =>
  "unpriced" in cost || Number.isSafeInteger(cost.nanoDollars) ? cost : { unpriced: "usage-invalid" }

/** Each request at its own price: what is dearer above a threshold, or paid once for a request, is so for each of them. */
const sumOf = (requests: ReadonlyArray<RequestUsage>, ofRequest: (request: RequestUsage) => Cost): Cost => {
  let nanoDollars = 0
  let isExact = true
  const prices = new Set<string>()
  const missing = new Set<UnpricedPart>()
  for (const request of requests) {
    const cost = ofRequest(request)
    if ("unpriced" in cost) return cost
    nanoDollars += cost.nanoDollars
    isExact &&= cost.isExact
    prices.add(cost.price)
    for (const part of cost.unpricedParts) missing.add(part)
  }
  return checked({ nanoDollars, price: named(prices), isExact, unpricedParts: Array.from(missing) })
}

/** As many as fit into a name. */
const named = (prices: ReadonlySet<string>): string => {
  const [first = "", ...others] = prices
  return others.reduce((all, next) => (all.length + next.length + 2 > maxNameLength ? all : `${all}, ${next}`), first)
}
