/** Calls, failures, durations, cost and tokens of a period, by names that have a colour of their own. */
import type { UsageRow } from "../../server/Types.ts"
import * as Format from "../../text/Format.ts"
import { FailedCount } from "../Failures.tsx"
import * as Period from "../Period.ts"
import { Chart, type Opens } from "./Chart.tsx"
import { CostChart } from "./CostChart.tsx"
import * as Scale from "./Scale.ts"
import * as Series from "./Series.ts"
import type { UsageBySlot } from "./usageBySlot.ts"

interface Props {
  readonly period: Period.Period
  readonly usage: UsageBySlot
  /** Of what all cost. */
  readonly digits: number
  /** Shows the hours of a day, such as `2026-11-28`. */
  readonly openDay: (day: string) => void
  /** Shows the sessions whose last call was in an hour. */
  readonly openSessions: (after: string, before: string) => void
  /** The place of the failures that are shown, or of an hour. */
  readonly failures: string
  readonly openFailures: (after: string, before: string) => void
  /** Where a name leads to. */
  readonly linkOf: (kind: "agent" | "agent_version" | "model", name: string) => string | undefined
}

const words = { agent: "agent", agent_version: "version" } as const

const modelOf = ({ model }: UsageRow) => model ?? "no model"
const eventsOf = ({ events }: UsageRow) => events

/** The hours of a day, or what an hour has. */
const opensOf = (
  period: Period.Period,
  openDay: Props["openDay"],
  what: string,
  open: (after: string, before: string) => void
): Opens =>
  period.by === "day"
    ? { what: "its hours", open: (slot) => openDay(Period.dayOf(slot)) }
    : { what, open: (slot) => open(new Date(slot).toISOString(), new Date(Period.endOf(period, slot)).toISOString()) }

export const UsageCharts = ({
  digits,
  failures,
  linkOf,
  openDay,
  openFailures,
  openSessions,
  period,
  usage
}: Props) => {
  const { byModel, byName, bySlot, kind, whole } = usage
  const slots = Period.slotsOf(period)
  const nameOf = (row: UsageRow) => row[kind] ?? ""
  const opens = opensOf(period, openDay, "its sessions", openSessions)
  const names = { period, opens, linkOf: (name: string) => linkOf(kind, name) }
  const models = { period, opens, linkOf: (name: string) => linkOf("model", name) }
  const failed = Series.ofAll(bySlot, slots, ({ errors }) => errors, { class: "failures" })
  return (
    <div class="charts">
      <Chart
        {...names}
        title={`Calls by ${words[kind]}`}
        series={Series.byKind(byName, slots, eventsOf, nameOf)}
        steps={Scale.whole}
        show={Format.short}
        total={Format.count(whole?.events ?? 0)}
      />
      <Chart
        title="Failed calls"
        period={period}
        opens={opensOf(period, openDay, "its failures", openFailures)}
        series={[failed]}
        steps={Scale.whole}
        show={Format.short}
        total={whole !== undefined && whole.errors > 0 ? <FailedCount count={whole.errors} to={failures} /> : 0}
      />
      <Durations {...{ bySlot, opens, period, slots, whole }} />
      <CostChart {...names} {...{ digits, whole }} title={`Cost by ${words[kind]}`} rows={byName} kindOf={nameOf} />
      <CostChart {...models} {...{ digits, whole }} title="Cost by model" rows={byModel} kindOf={modelOf} />
      <Chart
        {...models}
        title="Tokens by model"
        series={Series.byKind(byModel, slots, (row) => row.input_tokens + row.output_tokens, modelOf)}
        steps={Scale.whole}
        show={Format.short}
      />
    </div>
  )
}

interface DurationsProps extends Pick<UsageBySlot, "bySlot" | "whole"> {
  readonly period: Period.Period
  readonly slots: ReadonlyArray<number>
  readonly opens: Opens
}

const Durations = ({ bySlot, opens, period, slots, whole }: DurationsProps) => (
  <Chart
    title="Duration of a call"
    look="lines"
    {...{ opens, period }}
    series={[
      Series.ofAll(bySlot, slots, (row) => row.duration_ms_p50, { name: "half took no longer (p50)", class: "median" }),
      Series.ofAll(bySlot, slots, (row) => row.duration_ms_p95, { name: "95% took no longer (p95)", class: "slowest" })
    ]}
    steps={Scale.duration}
    show={Format.duration}
    total={
      <>
        {Format.duration(whole?.duration_ms_p50 ?? null)} <small>p50,</small>{" "}
        {Format.duration(whole?.duration_ms_p95 ?? null)} <small>p95</small>
      </>
    }
  />
)
