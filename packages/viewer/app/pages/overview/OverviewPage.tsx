/** `#/overview?period`: the last hours or days, by these, by agent and by model, and what is stored. */
import { useEffect } from "preact/hooks"
import { Chart } from "../../parts/Chart.tsx"
import { CostChart } from "../../parts/CostChart.tsx"
import { Bytes } from "../../parts/Facts.tsx"
import { Link } from "../../parts/Link.tsx"
import * as Period from "../../parts/Period.ts"
import { Empty, Failed, Loading } from "../../parts/States.tsx"
import { UsageTable } from "../../parts/Usage.tsx"
import type { PageProps } from "../../route/PageProps.ts"
import * as Route from "../../route/Route.ts"
import { api } from "../../server/Client.ts"
import * as Lists from "../../server/Lists.ts"
import type { UsageRow } from "../../server/Types.ts"
import { useAnswer } from "../../server/useAnswer.ts"
import * as Format from "../../text/Format.ts"

const read = (period: Period.Period) => async (signal: AbortSignal) => {
  const asked = Period.queryOf(period)
  const [bySlot, byAgent, byModel, storage, [whole]] = await Promise.all([
    Lists.usage({ group_by: period.by, ...asked }, signal),
    Lists.usage({ group_by: `${period.by},agent`, ...asked }, signal),
    Lists.usage({ group_by: "model", ...asked }, signal),
    api.readStorage({}, { signal }),
    Lists.usage(asked, signal)
  ])
  return { bySlot, byAgent, byModel, storage, whole }
}

const agentOf = ({ agent }: UsageRow) => agent ?? ""

export const OverviewPage = ({ query }: PageProps) => {
  const period = Period.byName(query.get("period"))
  const { again, error, value } = useAnswer(read(period), period.name)
  useEffect(() => void (document.title = "Overview · Tachograph"), [])
  if (error !== undefined) return <Failed isWhole error={error} again={again} />
  if (value === undefined) return <Loading what="the overview" />
  const { byModel, bySlot, storage } = value
  const first = new Date(Period.slotsOf(period)[0]!).toISOString()
  return (
    <section class="page">
      <div class="page-head">
        <h1>Overview</h1>
        <nav class="periods" aria-label={`Period, in ${Format.zone}`}>
          {Period.all.map(({ name, title }) => (
            <a
              key={name}
              href={Route.to(["overview"], { period: name })}
              aria-current={name === period.name ? "true" : undefined}
            >
              {title}
            </a>
          ))}
        </nav>
      </div>
      {bySlot.length === 0 ? (
        <Empty title="Nothing was recorded in this time" />
      ) : (
        <>
          <Charts period={period} {...value} />
          <UsageTable
            title={period.by === "hour" ? "Hour" : "Day"}
            rows={bySlot.toReversed()}
            keyOf={(row) => String(Period.slotOf(row))}
            nameOf={(row) => <Slot period={period} slot={Period.slotOf(row)} />}
          />
          <UsageTable
            title="Model"
            rows={byModel}
            keyOf={({ model }) => model ?? ""}
            nameOf={({ model }) =>
              model === null || model === undefined ? (
                "no model"
              ) : (
                <Link to={Route.to(["sessions"], { model, after: first })} text={model} />
              )
            }
          />
        </>
      )}
      <h2>Stored</h2>
      <Stored storage={storage as unknown as Readonly<Record<string, unknown>>} />
    </section>
  )
}

type Read = Awaited<ReturnType<ReturnType<typeof read>>>

type ChartsProps = Pick<Read, "byAgent" | "bySlot" | "whole"> & { readonly period: Period.Period }

const Charts = ({ byAgent, bySlot, period, whole }: ChartsProps) => {
  const ofAll = { period, rows: bySlot }
  const ofAgents = { period, rows: byAgent, kindOf: agentOf }
  const hasAgents = new Set(byAgent.map(agentOf)).size > 1
  return (
    <div class="charts">
      <Chart title="Calls" {...ofAll} valueOf={({ events }) => events} show={Format.count} />
      <Chart isBad title="Failed" {...ofAll} valueOf={({ errors }) => errors} show={Format.count} />
      <Chart
        title="Tokens"
        {...ofAll}
        valueOf={({ input_tokens, output_tokens }) => input_tokens + output_tokens}
        show={Format.short}
      />
      <CostChart title="Cost" {...ofAll} />
      <Chart
        title="Duration, p50"
        {...ofAll}
        valueOf={({ duration_ms_p50 }) => duration_ms_p50 ?? 0}
        show={Format.duration}
        total={Format.duration(whole?.duration_ms_p50 ?? null)}
      />
      <Chart
        title="Duration, p95"
        {...ofAll}
        valueOf={({ duration_ms_p95 }) => duration_ms_p95 ?? 0}
        show={Format.duration}
        total={Format.duration(whole?.duration_ms_p95 ?? null)}
      />
      {hasAgents && (
        <>
          <Chart title="Calls by agent" {...ofAgents} valueOf={({ events }) => events} show={Format.count} />
          <CostChart title="Cost by agent" {...ofAgents} />
        </>
      )}
    </div>
  )
}

/** A link to the sessions of an hour or a day. */
const Slot = ({ period, slot }: { readonly period: Period.Period; readonly slot: number }) => {
  const after = new Date(slot).toISOString()
  const before = new Date(Period.endOf(period, slot)).toISOString()
  return (
    <a
      href={Route.to(["sessions"], { after, before })}
      title={`${Format.exactly(after)}: sessions whose last call was then`}
    >
      {period.by === "hour" ? Format.moment(after) : Period.show(period, slot)}
    </a>
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
