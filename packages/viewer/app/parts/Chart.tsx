/** Sums by hour or day as bars, of one kind or of several on top of each other. A table beside it says the same. */
import type { UsageRow } from "../server/Types.ts"
import { plain } from "../text/Hidden.ts"
import { Plain } from "../text/Plain.tsx"
import * as Period from "./Period.ts"

/** Height of the bars (pixels). */
const height = 72

/** Kinds that have a colour of their own: those with most. The others are one. */
const maxKinds = 5

interface Props {
  readonly title: string
  readonly period: Period.Period
  readonly rows: ReadonlyArray<UsageRow>
  readonly valueOf: (row: UsageRow) => number
  readonly show: (value: number) => string
  /** What the bars are made of. */
  readonly kindOf?: (row: UsageRow) => string
  /** Shown for the whole period; the sum by default. */
  readonly total?: string
  /** Whether less is better. */
  readonly isBad?: boolean
}

const others = "others"

/** The kinds in the order of their sums, and all that have no colour as one. */
const kindsOf = (rows: ReadonlyArray<UsageRow>, valueOf: Props["valueOf"], kindOf: (row: UsageRow) => string) => {
  const sums = new Map<string, number>()
  for (const row of rows) sums.set(kindOf(row), (sums.get(kindOf(row)) ?? 0) + valueOf(row))
  const sorted = Array.from(sums.keys()).toSorted((one, other) => sums.get(other)! - sums.get(one)!)
  return sorted.length <= maxKinds + 1 ? sorted : [...sorted.slice(0, maxKinds), others]
}

export const Chart = ({ isBad = false, kindOf = () => "", period, rows, show, title, total, valueOf }: Props) => {
  const kinds = kindsOf(rows, valueOf, kindOf)
  const slots = Period.slotsOf(period)
  const values = new Map<number, Array<number>>()
  for (const row of rows) {
    const slot = Period.slotOf(row)
    const parts = values.get(slot) ?? kinds.map(() => 0)
    const kind = kinds.indexOf(kindOf(row))
    parts[kind === -1 ? kinds.length - 1 : kind]! += valueOf(row)
    values.set(slot, parts)
  }
  const sumOf = (parts: ReadonlyArray<number> | undefined) => parts?.reduce((sum, part) => sum + part, 0) ?? 0
  const most = Math.max(0, ...slots.map((slot) => sumOf(values.get(slot))))
  const whole = total ?? show(slots.reduce((sum, slot) => sum + sumOf(values.get(slot)), 0))
  return (
    <figure class={isBad ? "chart bad" : "chart"}>
      <figcaption>
        {title} <b>{whole}</b>
        {most > 0 && <small title={`The most of ${period.by === "hour" ? "an hour" : "a day"}`}>{show(most)}</small>}
      </figcaption>
      <svg
        viewBox={`0 0 ${10 * slots.length} ${height}`}
        preserveAspectRatio="none"
        role="img"
        aria-label={`${title} by ${period.by}, ${whole} in all. The table says the same.`}
      >
        {slots.map((slot, index) => {
          let top = height
          return (values.get(slot) ?? []).map((value, kind) => {
            const size = value === 0 ? 0 : Math.max(1, (height * value) / most)
            top -= size
            return (
              <rect key={`${slot} ${kind}`} class={`kind-${kind}`} x={10 * index} y={top} width={8} height={size}>
                <title>{`${Period.show(period, slot)}: ${kinds.length > 1 ? `${plain(kinds[kind]!)}, ` : ""}${show(value)}`}</title>
              </rect>
            )
          })
        })}
      </svg>
      <div class="axis" aria-hidden="true">
        <span>{Period.show(period, slots[0]!)}</span>
        <span>{period.by === "hour" ? "now" : "today"}</span>
      </div>
      {kinds.length > 1 && (
        <ul class="legend">
          {kinds.map((kind, index) => (
            <li key={kind}>
              <span class={`swatch kind-${index}`} />
              <Plain text={kind} />
            </li>
          ))}
        </ul>
      )}
    </figure>
  )
}
