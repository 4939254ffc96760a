/** What new events are priced by: the price list, or nothing as long as it cannot be loaded. */
import type { PriceList } from "@tachograph/prices"
import * as Cause from "effect/Cause"
import * as Effect from "effect/Effect"
import * as Lazy from "../Lazy.ts"
import * as Prices from "./Prices.ts"
import * as Rules from "./Rules.ts"

export interface Pricing {
  readonly prices: PriceList.PriceList
  /** The rules that events keep. */
  readonly rules: string
}

/**
 * Returns an effect that loads the list with the first event. While that fails, for want of a file handle perhaps, events are
 * recorded without a cost, by rules that no reindexing takes for the current ones.
 */
export const make = Effect.gen(function* () {
  const source = yield* Prices.Prices
  const priced = { rules: yield* Rules.current }
  const unpriced: Pricing = { prices: Prices.none, rules: yield* Rules.unpriced }
  let hasFailed = false
  const load = Effect.map(Effect.provideService(Prices.load, Prices.Prices, source), (prices): Pricing => {
    hasFailed = false
    return { ...priced, prices }
  })
  return Effect.catch(yield* Lazy.ofModule(load), (error) =>
    Effect.suspend(() => {
      if (hasFailed) return Effect.succeed(unpriced)
      hasFailed = true
      const message =
        "The price list cannot be loaded yet. Until then events get no cost; `tachograph reindex` computes it"
      return Effect.as(Effect.logWarning(message, Cause.fail(error)), unpriced)
    })
  )
})
