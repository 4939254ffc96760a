/** `#/overview`: the last thirty days, by day, agent and model, and what is stored. */
import { useEffect } from "preact/hooks"
import { Chart, lastDays, since } from "../../parts/Chart.tsx"
import { Bytes } from "../../parts/Facts.tsx"
import { Empty, Failed, Loading } from "../../parts/States.tsx"
import { UsageTable } from "../../parts/Usage.tsx"
import * as Route from "../../route/Route.ts"
import * as Client from "../../server/Client.ts"
import * as Lists from "../../server/Lists.ts"
import type { StorageUsage, UsageRow } from "../../server/Types.ts"
import { useAnswer } from "../../server/useAnswer.ts"
import * as Format from "../../text/Format.ts"
import { Plain } from "../../text/Plain.tsx"

const days = 30

const read = async (signal: AbortSignal) => {
  const period = { after: since(days), time_zone: Format.zone }
  const [byDay, byAgent, byModel, storage, [whole]] = await Promise.all([
    Lists.usage({ group_by: "day", ...period }, signal),
    Lists.usage({ group_by: "day,agent", ...period }, signal),
    Lists.usage({ group_by: "model", ...period }, signal),
    Client.get<StorageUsage>(["storage"], {}, signal),
    Lists.usage(period, signal)
  ])
  return { byDay, byAgent, byModel, storage, whole }
}

const costOf = ({ cost_usd }: UsageRow) => Number(cost_usd ?? 0)
const showCost = (value: number) => Format.dollars(String(value))
const agentOf = ({ agent }: UsageRow) => agent ?? ""

export const OverviewPage = () => {
  const { again, error, value } = useAnswer(read, "overview")
  useEffect(() => void (document.title = "Overview · Tachograph"), [])
  if (error !== undefined) return <Failed isWhole error={error} again={again} />
  if (value === undefined) return <Loading what="the overview" />
  const { byAgent, byDay, byModel, storage, whole } = value
  const ofDays = { days: lastDays(days), rows: byDay }
  const ofAgents = { days: ofDays.days, rows: byAgent, kindOf: agentOf }
  const hasAgents = new Set(byAgent.map(agentOf)).size > 1
  return (
    <section class="page">
      <div class="page-head">
        <h1>Overview</h1>
        <p class="hint">
          The last {days} days, in {Format.zone}
        </p>
      </div>
      {byDay.length === 0 ? (
        <Empty title="Nothing was recorded in this time" />
      ) : (
        <>
          <div class="charts">
            <Chart title="Calls" {...ofDays} valueOf={({ events }) => events} show={Format.count} />
            <Chart title="Failed" {...ofDays} valueOf={({ errors }) => errors} show={Format.count} />
            <Chart
              title="Tokens"
              {...ofDays}
              valueOf={({ input_tokens, output_tokens }) => input_tokens + output_tokens}
              show={Format.short}
            />
            <Chart title="Cost" {...ofDays} valueOf={costOf} show={showCost} />
            <Chart
              title="Duration, p50"
              {...ofDays}
              valueOf={({ duration_ms_p50 }) => duration_ms_p50 ?? 0}
              show={Format.duration}
              total={Format.duration(whole?.duration_ms_p50 ?? null)}
            />
            <Chart
              title="Duration, p95"
              {...ofDays}
              valueOf={({ duration_ms_p95 }) => duration_ms_p95 ?? 0}
              show={Format.duration}
              total={Format.duration(whole?.duration_ms_p95 ?? null)}
            />
            {hasAgents && (
              <>
                <Chart title="Calls by agent" {...ofAgents} valueOf={({ events }) => events} show={Format.count} />
                <Chart title="Cost by agent" {...ofAgents} valueOf={costOf} show={showCost} />
              </>
            )}
          </div>
          <UsageTable
            title="Day"
            rows={byDay.toReversed()}
            keyOf={({ day }) => day ?? ""}
            nameOf={({ day }) => day ?? ""}
          />
          <UsageTable
            title="Model"
            rows={byModel}
            keyOf={({ model }) => model ?? ""}
            nameOf={({ model }) => (
              <a href={Route.to(["sessions"], { model })}>
                <Plain text={model ?? "no model"} />
              </a>
            )}
          />
        </>
      )}
      <h2>Stored</h2>
      <Stored storage={storage as unknown as Readonly<Record<string, unknown>>} />
    </section>
  )
}

const Stored = ({ storage }: { readonly storage: Readonly<Record<string, unknown>> }) => (
  <dl class="facts narrow">
    {Object.entries(storage).map(([name, count]) =>
      typeof count === "number" ? (
        <div key={name}>
          <dt>{name.replaceAll("_", " ")}</dt>
          <dd>{name.endsWith("bytes") ? <Bytes value={count} /> : Format.count(count)}</dd>
        </div>
      ) : null
    )}
  </dl>
)
