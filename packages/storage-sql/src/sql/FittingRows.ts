import type { Integer } from "./RowDecoding.ts"

export interface Size {
  readonly size: Integer
}

/** How many of the rows fit into `maxBytes` together, `maxRows` at most: at least one, if there are any. */
export const fittingRows = (sizes: ReadonlyArray<Size>, maxRows: number, maxBytes: number): number => {
  let bytesLeft = maxBytes
  const firstOmitted = sizes.findIndex(({ size }, index) => (bytesLeft -= Number(size)) < 0 && index > 0)
  return Math.min(maxRows, firstOmitted === -1 ? sizes.length : firstOmitted)
}
