/** The days of the price lists. Apart from the lists, which take some megabytes. */
import type { PriceFile } from "./PriceFile.ts"

/** The day on which the kept list was published. It belongs to one version of its package, which is therefore pinned. */
const keptListDate = "2026-09-23"

/** The newest first, such as `2026-11-01 (own), 2026-09-23`. */
export const of = (own: Pick<PriceFile, "date"> | null): string =>
  own === null ? keptListDate : `${own.date} (own), ${keptListDate}`
