/** The cost by hour or day, of each kind. */
import type { UsageRow } from "../../server/Types.ts"
import * as Format from "../../text/Format.ts"
import { Cost, missingOf, noteOf } from "../Costs.tsx"
import * as Period from "../Period.ts"
import { Chart, type Props as ChartProps } from "./Chart.tsx"
import * as Series from "./Series.ts"

type Props = Pick<ChartProps, "title" | "period" | "opens" | "linkOf"> & {
  readonly rows: ReadonlyArray<UsageRow>
  /** All of them together. */
  readonly whole: UsageRow | undefined
  readonly kindOf: (row: UsageRow) => string
  /** Of the total. */
  readonly digits: number
}

const costOf = ({ cost_usd }: UsageRow) => Number(cost_usd ?? 0)

/** Digits behind the point that tell ticks apart which are a step apart. */
const digitsOf = (step: number): number => (step >= 1 ? 0 : Math.max(2, Math.ceil(-Math.log10(step) - 1e-9)))

export const CostChart = ({ digits, kindOf, rows, whole, ...chart }: Props) => (
  <Chart
    {...chart}
    series={Series.byKind(rows, Period.slotsOf(chart.period), costOf, kindOf)}
    show={(value) => Format.dollars(String(value), value < 1 ? 4 : 2)}
    mark={(value, step) => Format.dollars(String(value), digitsOf(step))}
    total={
      whole === undefined || whole.cost_usd === null ? (
        "no price"
      ) : (
        <Cost usd={whole.cost_usd} missing={missingOf(whole)} digits={digits} />
      )
    }
    note={noteOf(whole === undefined ? [] : [whole])}
  />
)
