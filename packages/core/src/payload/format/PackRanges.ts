/** Sets of pack numbers, as ascending ranges that neither overlap nor touch. */

/** Both ends are inclusive. */
export interface PackRange {
  readonly from: number
  readonly to: number
}

export type PackRanges = ReadonlyArray<PackRange>

export const none: PackRanges = []

const covers = (ranges: PackRanges, { from, to }: PackRange): boolean => {
  for (let index = ranges.length - 1; index >= 0; index--) {
    const range = ranges[index]!
    if (range.from <= from) return to <= range.to
  }
  return false
}

/** The union of a set and a range. */
export const add = (ranges: PackRanges, added: PackRange): PackRanges => {
  if (covers(ranges, added)) return ranges
  let { from, to } = added
  const before: Array<PackRange> = []
  const after: Array<PackRange> = []
  for (const range of ranges) {
    if (range.to + 1 < from) before.push(range)
    else if (range.from > to + 1) after.push(range)
    else {
      from = Math.min(from, range.from)
      to = Math.max(to, range.to)
    }
  }
  return [...before, { from, to }, ...after]
}

export const union = (a: PackRanges, b: PackRanges): PackRanges => (a === b ? a : b.reduce(add, a))

/** A superset with at most `count` ranges, made by joining the ranges with the smallest gaps. */
export const atMost = (count: number, ranges: PackRanges): PackRanges => {
  if (ranges.length <= count) return ranges
  const gaps = ranges.slice(1).map((range, index) => range.from - ranges[index]!.to)
  // `count` ranges have `count - 1` gaps between them: all gaps up to the next widest one are closed.
  const widestFirst = gaps.toSorted((a, b) => b - a)
  const maxClosedGap = widestFirst[count - 1]!
  return ranges.reduce<PackRanges>((joined, range) => {
    const last = joined.at(-1)
    return last !== undefined && range.from - last.to <= maxClosedGap
      ? [...joined.slice(0, -1), { from: last.from, to: range.to }]
      : [...joined, range]
  }, [])
}
