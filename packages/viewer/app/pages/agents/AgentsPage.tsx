/** `#/agents`: the agents, and what their calls add up to. */
import { useEffect } from "preact/hooks"
import { Empty, Failed, Loading } from "../../parts/States.tsx"
import { UsageTable } from "../../parts/Usage.tsx"
import * as Route from "../../route/Route.ts"
import * as Lists from "../../server/Lists.ts"
import { useAnswer } from "../../server/useAnswer.ts"
import { Plain } from "../../text/Plain.tsx"

export const AgentsPage = () => {
  const { again, error, value } = useAnswer((signal) => Lists.usage({ group_by: "agent" }, signal), "agents")
  useEffect(() => void (document.title = "Agents · Tachograph"), [])
  if (error !== undefined) return <Failed isWhole error={error} again={again} />
  if (value === undefined) return <Loading what="the agents" />
  return (
    <section class="page">
      <div class="page-head">
        <h1>Agents</h1>
        <p>
          <a href={Route.to(["fingerprints"])}>The runtimes of their programs</a>
        </p>
      </div>
      {value.length === 0 ? (
        <Empty title="Nothing is recorded yet" />
      ) : (
        <UsageTable
          title="Agent"
          rows={value}
          keyOf={({ agent }) => agent ?? ""}
          nameOf={({ agent }) => (
            <a href={Route.to(["agents", agent ?? ""])}>
              <Plain text={agent ?? ""} />
            </a>
          )}
        />
      )}
    </section>
  )
}
