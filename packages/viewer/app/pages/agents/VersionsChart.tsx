/** The calls of an agent by day and version: when each version came and went. */
import { Chart } from "../../parts/Chart.tsx"
import { CostChart } from "../../parts/CostChart.tsx"
import * as Period from "../../parts/Period.ts"
import type { UsageRow } from "../../server/Types.ts"
import * as Format from "../../text/Format.ts"

const versionOf = ({ agent_version }: UsageRow) => agent_version ?? ""

export const VersionsChart = ({ rows }: { readonly rows: ReadonlyArray<UsageRow> }) => {
  if (rows.length === 0) return null
  const shown = { period: Period.month, rows, kindOf: versionOf }
  return (
    <div class="charts">
      <Chart title="Calls by version" {...shown} valueOf={({ events }) => events} show={Format.count} />
      <Chart title="Failed by version" {...shown} valueOf={({ errors }) => errors} show={Format.count} />
      <CostChart title="Cost by version" {...shown} />
    </div>
  )
}
