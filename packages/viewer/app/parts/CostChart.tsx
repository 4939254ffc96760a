/** The cost by hour or day as bars. */
import type { UsageRow } from "../server/Types.ts"
import * as Format from "../text/Format.ts"
import { Chart } from "./Chart.tsx"
import type * as Period from "./Period.ts"

interface Props {
  readonly title: string
  readonly period: Period.Period
  readonly rows: ReadonlyArray<UsageRow>
  readonly kindOf?: (row: UsageRow) => string
}

const costOf = ({ cost_usd }: UsageRow) => Number(cost_usd ?? 0)
const show = (value: number) => Format.dollars(String(value))

export const CostChart = (props: Props) => {
  const { rows } = props
  const sum = rows.every(({ cost_usd }) => cost_usd === null) ? null : rows.reduce((sum, row) => sum + costOf(row), 0)
  const isIncomplete = rows.some((row) => row.unpriced_events > 0 || row.partly_priced_events > 0)
  const total = Format.cost(sum === null ? null : String(sum), isIncomplete)
  return <Chart {...props} valueOf={costOf} show={show} total={total} />
}
