/** By which rules facts and costs are computed, as events keep it: a version of the rules, and the price lists. */
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import { createHash } from "node:crypto"
import * as Prices from "./Prices.ts"
import * as ReadFacts from "./ReadFacts.ts"

/** How the facts of a call are read. */
export interface FactRules {
  /** Raise it with every change by which stored events would get other facts or costs: `tachograph reindex` computes them anew. */
  readonly version: number
  readonly read: typeof ReadFacts.read
}

export const Rules = Context.Reference<FactRules>("tachograph/core/Rules", {
  defaultValue: () => ({ version: 6, read: ReadFacts.read })
})

/** Tells two files of an operator of the same day apart. */
const hashOf = (own: object): string => createHash("sha256").update(JSON.stringify(own)).digest("hex").slice(0, 8)

/** Such as `6, prices 2026-11-01 (own), 2026-09-23, own 5d41402a`. At most 100 characters. */
export const current: Effect.Effect<string> = Effect.map(
  Effect.all([Prices.Prices, Prices.date, Rules]),
  ([source, date, { version }]) => {
    const own = source === "none" || source.own === null ? "" : `, own ${hashOf(source.own)}`
    return `${version}, prices ${date}${own}`
  }
)

/** By which events are computed whose price list could not be loaded. */
export const unpriced: Effect.Effect<string> = Effect.map(Rules, ({ version }) => `${version}, prices not loaded`)
