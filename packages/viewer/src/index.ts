/** The pages as they are served. The router imports this module when it is first asked for one of them. */
export type { Asset } from "./Asset.ts"
export { assets } from "./generated/assets.ts"
