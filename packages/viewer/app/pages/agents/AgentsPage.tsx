/** `#/agents`: the agents, and what their calls add up to. */
import { useEffect, useRef } from "preact/hooks"
import { PageHelp } from "../../help/PageHelp.tsx"
import { useSelection } from "../../keyboard/useSelection.ts"
import { Colored } from "../../parts/Colored.tsx"
import { Link } from "../../parts/Link.tsx"
import { Empty, Failed, Loading } from "../../parts/States.tsx"
import { SortedUsageTable, useSorted } from "../../parts/Usage.tsx"
import * as Route from "../../route/Route.ts"
import * as Lists from "../../server/Lists.ts"
import type { UsageRow } from "../../server/Types.ts"
import { useAnswer } from "../../server/useAnswer.ts"

const placeOf = ({ agent }: UsageRow): string => Route.to(["agents", agent ?? ""])

export const AgentsPage = () => {
  const { again, error, value } = useAnswer((signal) => Lists.usage({ group_by: "agent" }, signal), "agents")
  const list = useRef<HTMLTableSectionElement>(null)
  const { rows, sorting } = useSorted(value?.rows ?? [], undefined)
  const selection = useSelection(rows.map(placeOf), list, (index) => Route.go(placeOf(rows[index]!)))
  useEffect(() => void (document.title = "Agents · Tachograph"), [])
  if (error !== undefined) return <Failed isWhole error={error} again={again} />
  if (value === undefined) return <Loading what="the agents" />
  return (
    <section class="page">
      <div class="page-head">
        <h1>Agents</h1>
        <PageHelp />
        <p>
          All calls, of any time · <a href={Route.to(["fingerprints"])}>Runtimes: what their programs ran on</a>
        </p>
      </div>
      {value.rows.length === 0 ? (
        <Empty title="Nothing is recorded yet" />
      ) : (
        <SortedUsageTable
          title="Agent"
          rows={rows}
          total={value.total}
          sorting={sorting}
          keyOf={({ agent }) => agent ?? ""}
          failuresOf={({ agent }) => Route.to(["failures"], { agent })}
          list={list}
          selection={selection}
          nameOf={(row) => (
            <Colored name={row.agent ?? ""}>
              <Link to={placeOf(row)} text={row.agent ?? ""} />
            </Colored>
          )}
        />
      )}
    </section>
  )
}
