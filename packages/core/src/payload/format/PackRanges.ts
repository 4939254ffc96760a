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

export const union = (a: PackRanges, b: PackRanges): PackRanges => {
  if (a === b) return a
  // Copies at most one of them for a few ranges, and both once for many.
  return b.length <= 2 ? b.reduce(add, a) : merge(a, b)
}

const merge = (a: PackRanges, b: PackRanges): PackRanges => {
  const merged: Array<PackRange> = []
  let [ofA, ofB] = [0, 0]
  while (ofA < a.length || ofB < b.length) {
    const isNextOfA = ofB === b.length || (ofA < a.length && a[ofA]!.from <= b[ofB]!.from)
    const next = isNextOfA ? a[ofA++]! : b[ofB++]!
    const last = merged.at(-1)
    if (last === undefined || last.to + 1 < next.from) merged.push(next)
    else if (last.to < next.to) merged[merged.length - 1] = { from: last.from, to: next.to }
  }
  return merged
}

/** Whether each range of `b` is in `a`. */
export const includes = (a: PackRanges, b: PackRanges): boolean => b.every((range) => covers(a, range))

/** A superset with at most `count` ranges, made by joining the ranges with the smallest gaps. */
export const atMost = (count: number, ranges: PackRanges): PackRanges => {
  if (ranges.length <= count) return ranges
  const gaps = ranges.slice(1).map((range, index) => range.from - ranges[index]!.to)
  // `count` ranges have `count - 1` gaps between them: all gaps up to the next widest one are closed.
  const widestFirst = gaps.toSorted((a, b) => b - a)
  const maxClosedGap = widestFirst[count - 1]!
  const joined: Array<PackRange> = []
  for (const range of ranges) {
    const last = joined.at(-1)
    if (last !== undefined && range.from - last.to <= maxClosedGap) {
      joined[joined.length - 1] = { from: last.from, to: range.to }
    } else {
      joined.push(range)
    }
  }
  return joined
}
