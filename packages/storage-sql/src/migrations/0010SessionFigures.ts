/** Sums of sessions have the API and the largest figures of their calls. All are made anew. */
export { default } from "./0006PartlyPriced.ts"
