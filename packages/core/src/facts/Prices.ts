/** The prices by which calls get their costs. */
import type { PriceFile, PriceList } from "@tachograph/prices"
import * as ListDates from "@tachograph/prices/ListDates"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"

/** As `PriceFile.parse` of `@tachograph/prices` reads them. */
export type OwnPrices = PriceFile.PriceFile

/** The kept list, with prices of an operator's own before it if there are any; or none, for a recorder that only reads. */
export type PriceSource = "none" | { readonly own: OwnPrices | null }

export const Prices = Context.Reference<PriceSource>("tachograph/core/Prices", { defaultValue: () => ({ own: null }) })

/** The days of the lists, the newest first; empty for none. */
export const date: Effect.Effect<string> = Effect.map(Prices, (source) =>
  source === "none" ? "" : ListDates.of(source.own)
)

/** A list that knows no model. */
export const none: PriceList.PriceList = {
  date: "",
  cost: () => ({ unpriced: "unknown-model" }),
  inputPrices: () => null
}

/** Imports the list, which takes some megabytes: to be called when there is something to price. */
export const load: Effect.Effect<PriceList.PriceList, unknown> = Effect.flatMap(Prices, (source) =>
  source === "none"
    ? Effect.succeed(none)
    : Effect.tryPromise({
        try: async () => (await import("@tachograph/prices")).PriceList.make(source.own),
        catch: (error) => error
      })
)
