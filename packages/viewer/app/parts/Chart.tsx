/** Sums by day as bars, of one kind or of several on top of each other. A table beside it says the same. */
import type { UsageRow } from "../server/Types.ts"
import { Plain } from "../text/Plain.tsx"

const dayMs = 86_400_000

/** Height of the bars (pixels). */
const height = 72

/** Kinds that have a colour of their own: those with most. The others are one. */
const maxKinds = 5

const dayOf = new Intl.DateTimeFormat("en-CA", { year: "numeric", month: "2-digit", day: "2-digit" })

/** The last `count` days, also those without a call. */
export const lastDays = (count: number): ReadonlyArray<string> =>
  Array.from({ length: count }, (_, index) => dayOf.format(Date.now() - (count - 1 - index) * dayMs))

/** When the first of them began, about. */
export const since = (days: number): string => new Date(Date.now() - days * dayMs).toISOString()

interface Props {
  readonly title: string
  readonly days: ReadonlyArray<string>
  readonly rows: ReadonlyArray<UsageRow>
  readonly valueOf: (row: UsageRow) => number
  readonly show: (value: number) => string
  /** What the bars are made of. */
  readonly kindOf?: (row: UsageRow) => string
  /** Shown for all days; the sum by default. */
  readonly total?: string
}

const others = "others"

/** The kinds in the order of their sums, and all that have no colour as one. */
const kindsOf = (rows: ReadonlyArray<UsageRow>, valueOf: Props["valueOf"], kindOf: (row: UsageRow) => string) => {
  const sums = new Map<string, number>()
  for (const row of rows) sums.set(kindOf(row), (sums.get(kindOf(row)) ?? 0) + valueOf(row))
  const sorted = Array.from(sums.keys()).toSorted((one, other) => sums.get(other)! - sums.get(one)!)
  return sorted.length <= maxKinds + 1 ? sorted : [...sorted.slice(0, maxKinds), others]
}

export const Chart = ({ days, kindOf = () => "", rows, show, title, total, valueOf }: Props) => {
  const kinds = kindsOf(rows, valueOf, kindOf)
  const values = new Map<string, Array<number>>()
  for (const row of rows) {
    const day = values.get(row.day ?? "") ?? kinds.map(() => 0)
    const kind = kinds.indexOf(kindOf(row))
    day[kind === -1 ? kinds.length - 1 : kind]! += valueOf(row)
    values.set(row.day ?? "", day)
  }
  const sumOf = (parts: ReadonlyArray<number> | undefined) => parts?.reduce((sum, part) => sum + part, 0) ?? 0
  const most = Math.max(1e-9, ...days.map((day) => sumOf(values.get(day))))
  const all = total ?? show(days.reduce((sum, day) => sum + sumOf(values.get(day)), 0))
  return (
    <figure class="chart">
      <figcaption>
        {title} <b>{all}</b>
      </figcaption>
      <svg
        viewBox={`0 0 ${10 * days.length} ${height}`}
        preserveAspectRatio="none"
        role="img"
        aria-label={`${title} by day, ${all} in all. The table says the same.`}
      >
        {days.map((day, index) => {
          let top = height
          return (values.get(day) ?? []).map((value, kind) => {
            const size = value === 0 ? 0 : Math.max(1, (height * value) / most)
            top -= size
            return (
              <rect key={`${day} ${kind}`} class={`kind-${kind}`} x={10 * index} y={top} width={8} height={size}>
                <title>{`${day}: ${kinds.length > 1 ? `${kinds[kind]}, ` : ""}${show(value)}`}</title>
              </rect>
            )
          })
        })}
      </svg>
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
