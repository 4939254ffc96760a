/** What a chart shows: a value for each slot of its period, of each kind. */
import type { UsageRow } from "../../server/Types.ts"
import * as Hue from "../../text/Hue.ts"
import * as Period from "../Period.ts"

export interface Series {
  readonly name: string
  /** Its colour. */
  readonly class: string
  /** Null where nothing is known. */
  readonly values: ReadonlyArray<number | null>
}

/** Kinds that have a series of their own: those with most. The others are one. */
const maxKinds = 7

const others = "others"

const sumBy = (rows: ReadonlyArray<UsageRow>, keyOf: (row: UsageRow) => string, valueOf: (row: UsageRow) => number) => {
  const sums = new Map<string, number>()
  for (const row of rows) sums.set(keyOf(row), (sums.get(keyOf(row)) ?? 0) + valueOf(row))
  return sums
}

/** One series of all rows, each of which has a slot of its own. */
export const ofAll = (
  rows: ReadonlyArray<UsageRow>,
  slots: ReadonlyArray<number>,
  valueOf: (row: UsageRow) => number | null,
  { class: color = "plain", name = "" } = {}
): Series => {
  const values = new Map(rows.map((row) => [Period.slotOf(row), valueOf(row)]))
  return { name, class: color, values: slots.map((slot) => values.get(slot) ?? null) }
}

/** A series of each kind, those with most first. */
export const byKind = (
  rows: ReadonlyArray<UsageRow>,
  slots: ReadonlyArray<number>,
  valueOf: (row: UsageRow) => number,
  kindOf: (row: UsageRow) => string
): ReadonlyArray<Series> => {
  const sums = sumBy(rows, kindOf, valueOf)
  const sorted = Array.from(sums.keys()).toSorted(
    (one, other) => sums.get(other)! - sums.get(one)! || (one < other ? -1 : 1)
  )
  const own = sorted.length <= maxKinds + 1 ? sorted : sorted.slice(0, maxKinds)
  const names = own.length === sorted.length ? own : [...own, others]
  const colors = Hue.classesOf(own)
  const shownOf = (row: UsageRow) => (colors.has(kindOf(row)) ? kindOf(row) : others)
  return names.map((name) => {
    const values = sumBy(
      rows.filter((row) => shownOf(row) === name),
      (row) => String(Period.slotOf(row)),
      valueOf
    )
    return { name, class: colors.get(name) ?? "others", values: slots.map((slot) => values.get(String(slot)) ?? 0) }
  })
}

export const sumOf = (series: ReadonlyArray<Series>, slot: number): number =>
  series.reduce((sum, { values }) => sum + (values[slot] ?? 0), 0)
