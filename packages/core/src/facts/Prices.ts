/** The price list of a process. */
import type { PriceList } from "@tachograph/prices"
import { Context, Effect } from "effect"

type Load = Effect.Effect<PriceList.PriceList>

/** Imported when a recorder is made: the list takes some megabytes, and not every process that imports this package records. */
const kept: Load = Effect.promise(async () => (await import("@tachograph/prices")).PriceList.make())

/** For recorders that only read. */
export const noPrices: Load = Effect.succeed({ date: "", cost: () => ({ unpriced: "unknown-model" }) })

/** The kept list, unless a server is given prices of its own. */
export const Prices = Context.Reference<Load>("tachograph/core/Prices", { defaultValue: () => kept })
