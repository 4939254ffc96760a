/** What calls cost: `PriceList.make().cost(usage, at)`. */
export * as PriceFile from "./PriceFile.ts"
export * as PriceList from "./PriceList.ts"
export type { Unpriced } from "./PriceList.ts"
export type { Usage } from "./Usage.ts"
export { formatUsd, parseUsd } from "./Usd.ts"
