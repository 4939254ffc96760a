/** What calls cost: `PriceList.make().cost(usage, at)`. */
export * as PriceFile from "./PriceFile.ts"
export * as PriceList from "./PriceList.ts"
export type { Unpriced } from "./PriceList.ts"
export type { RequestUsage, UnpricedPart, Usage } from "./Usage.ts"
export type { InputPrices } from "./Rates.ts"
export { formatUsd, parseUsd } from "./Usd.ts"
