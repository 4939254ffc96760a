/**
 * Which of the rows of hours, days and quarters make up a range of time: as few as possible. What is left at its ends is less than a
 * quarter of an hour each.
 */

/** From a time to another, which is not in it: epoch milliseconds. */
export interface TimeRange {
  readonly fromMs: number
  readonly toMs: number
}

/** A unit, and the ranges that it makes up: whole units, in order. */
export interface UnitRanges<Unit extends string> {
  readonly unit: Unit
  readonly ranges: ReadonlyArray<TimeRange>
}

export const isEmpty = ({ fromMs, toMs }: TimeRange): boolean => fromMs >= toMs

/**
 * `units` are from the smallest to the largest, each a multiple of the one before it (ms). Returns the ranges of each, and what is left
 * at the ends.
 */
export const split = <Unit extends string>(
  range: TimeRange,
  units: ReadonlyArray<readonly [Unit, number]>
): { readonly units: ReadonlyArray<UnitRanges<Unit>>; readonly ends: ReadonlyArray<TimeRange> } => {
  const [first, ...larger] = units
  if (first === undefined || isEmpty(range)) return { units: [], ends: [range].filter((each) => !isEmpty(each)) }
  const [unit, unitMs] = first
  const fromMs = Math.ceil(range.fromMs / unitMs) * unitMs
  const toMs = Math.floor(range.toMs / unitMs) * unitMs
  if (fromMs >= toMs) return { units: [], ends: [range] }
  const inner = split({ fromMs, toMs }, larger)
  const ends = [
    { fromMs: range.fromMs, toMs: fromMs },
    { fromMs: toMs, toMs: range.toMs }
  ]
  return {
    units: [{ unit, ranges: inner.ends }, ...inner.units].filter(({ ranges }) => ranges.length > 0),
    ends: ends.filter((each) => !isEmpty(each))
  }
}
