/** The prices by which calls get their costs. */
import type { PriceFile, PriceList } from "@tachograph/prices"
import { Context, Effect } from "effect"

/** As `PriceFile.parse` of `@tachograph/prices` reads them. */
export type OwnPrices = PriceFile.PriceFile

/** The kept list, with prices of an operator's own before it if there are any; or none, for a recorder that only reads. */
export type PriceSource = "none" | { readonly own: OwnPrices | null }

export const Prices = Context.Reference<PriceSource>("tachograph/core/Prices", { defaultValue: () => ({ own: null }) })

/** Imports the list when a recorder is made: it takes some megabytes, and not every process that imports this package records. */
export const load: Effect.Effect<PriceList.PriceList> = Effect.flatMap(Prices, (source) =>
  source === "none"
    ? Effect.succeed({ date: "", cost: () => ({ unpriced: "unknown-model" }) as const })
    : Effect.promise(async () => (await import("@tachograph/prices")).PriceList.make(source.own))
)
