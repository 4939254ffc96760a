/** What sessions and calls of two versions took and cost, for people: a column for each, and how much more or less the second is. */
import type { UsageGroup } from "@tachograph/client/api"
import * as Figures from "./Figures.ts"
import * as Style from "./Style.ts"
import * as Table from "./Table.ts"

interface Measure {
  readonly name: string
  /** Null where it is not known. */
  readonly of: (usage: UsageGroup) => number | null
  readonly show: (value: number) => string
  /** Whether less is better; neither is better without it. */
  readonly isBurden?: boolean
  /** Whether it is more than is known, as calls have no price. */
  readonly isPartial?: (usage: UsageGroup) => boolean
}

const dollars = (value: number) => Figures.dollars(String(value))
const mean = (value: number) => (value < 100 ? value.toFixed(1) : Figures.integer(Math.round(value)))

const share = (of: (usage: UsageGroup) => number, among: (usage: UsageGroup) => number | null) => {
  return (usage: UsageGroup) => {
    const all = among(usage)
    return all === null || all === 0 ? null : of(usage) / all
  }
}

const sessions = ({ sessions }: UsageGroup) => sessions
const calls = ({ events }: UsageGroup) => events
const tokens = (usage: UsageGroup) => usage.input_tokens + usage.output_tokens

const costOfSession = (of: "mean" | "median" | "p95", name: string): Measure => ({
  name: `cost, ${name}`,
  of: ({ cost_usd_per_session: cost }) => (cost === null ? null : Number(cost[of])),
  show: dollars,
  isBurden: true,
  isPartial: Figures.hasUnpricedSessions
})

const duration = (name: "p50" | "p95"): Measure => ({
  name: `duration, ${name}`,
  of: (usage) => usage[`duration_ms_${name}`],
  show: Figures.duration,
  isBurden: true
})

const groups: ReadonlyArray<readonly [title: string, measures: ReadonlyArray<Measure>]> = [
  [
    "in all",
    [
      { name: "sessions", of: sessions, show: Figures.integer },
      { name: "calls", of: calls, show: Figures.integer }
    ]
  ],
  [
    "per session",
    [
      costOfSession("mean", "mean"),
      costOfSession("median", "median"),
      costOfSession("p95", "p95"),
      { name: "calls", of: share(calls, sessions), show: mean },
      { name: "tokens", of: share(tokens, sessions), show: mean }
    ]
  ],
  [
    "per call",
    [
      {
        name: "cost",
        of: (usage) => (usage.cost_usd === null ? null : share(({ cost_usd: cost }) => Number(cost), calls)(usage)),
        show: dollars,
        isBurden: true,
        isPartial: Figures.hasUnpricedCalls
      },
      { name: "tokens in", of: share(({ input_tokens }) => input_tokens, calls), show: mean },
      { name: "tokens out", of: share(({ output_tokens }) => output_tokens, calls), show: mean },
      duration("p50"),
      duration("p95"),
      {
        name: "errors",
        of: share(({ errors }) => errors, calls),
        show: (value) => `${(100 * value).toFixed(1)} %`,
        isBurden: true
      }
    ]
  ]
]

/** `−12 % better`, `+8 % worse`. Empty where one of them is not known, or not whole. */
const change = (measure: Measure, from: UsageGroup, to: UsageGroup): string => {
  const { isBurden = false, isPartial, of, show } = measure
  const [before, after] = [of(from), of(to)]
  if (before === null || after === null || isPartial?.(from) === true || isPartial?.(to) === true) return ""
  const by = Math.round((100 * (after - before)) / before)
  if (before === after || by === 0 || show(before) === show(after)) return "the same"
  const much = before === 0 ? "from none" : `${by > 0 ? "+" : "−"}${Figures.integer(Math.abs(by))} %`
  if (!isBurden) return much
  return `${much}${before === 0 ? "," : ""} ${after > before ? "worse" : "better"}`
}

const shown = ({ isPartial, of, show }: Measure, usage: UsageGroup): string => {
  const value = of(usage)
  return value === null ? "" : `${show(value)}${isPartial?.(usage) === true ? "+" : ""}`
}

type Named = readonly [version: string, usage: UsageGroup]

/** Both are of one agent. */
export const table = ([from, before]: Named, [to, after]: Named): string => {
  const rows = groups.flatMap(([title, measures]) => [
    [title, "", "", ""],
    ...measures.map((measure) => [
      `  ${measure.name}`,
      shown(measure, before),
      shown(measure, after),
      change(measure, before, after)
    ])
  ])
  const paint = (padded: string, row: number, column: number): string => {
    if (row === 0 || column === 0) return Style.dim(padded)
    if (padded.endsWith("worse")) return Style.red(padded)
    return padded.endsWith("better") ? Style.green(padded) : padded
  }
  const table = Table.format([["", Table.printable(from), Table.printable(to), ""], ...rows], new Set([1, 2]), paint)
  const isPartial = [before, after].some(Figures.hasUnpricedCalls)
  return isPartial
    ? `${table}\n${Style.dim("+ is at least so much: some calls have no price, or not of all they used")}`
    : table
}
