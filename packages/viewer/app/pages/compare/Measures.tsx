/** What a session and a call of each version took and cost: how figures are spread, and the mean of what was used. */
import { Colored } from "../../parts/Colored.tsx"
import { digitsBy, missingOf } from "../../parts/Costs.tsx"
import { number, Table } from "../../parts/Table.tsx"
import { meanDigits } from "../../parts/Usage.tsx"
import type { UsageRow } from "../../server/Types.ts"
import * as Format from "../../text/Format.ts"
import * as Hue from "../../text/Hue.ts"
import { Plain } from "../../text/Plain.tsx"

interface Measure {
  readonly name: string
  readonly title: string
  /** Null where it is not known. */
  readonly of: (usage: UsageRow) => number | null
  /** Among these two. */
  readonly show: (value: number, usages: ReadonlyArray<UsageRow>) => string
  /** Whether less is better. */
  readonly isCost?: boolean
  /** Whether it is at least so much where calls have no price. */
  readonly isPriced?: boolean
}

interface ChangeProps {
  readonly measure: Measure
  readonly before: UsageRow
  readonly after: UsageRow
}

const mean = (sum: (usage: UsageRow) => number) => (usage: UsageRow) =>
  usage.events === 0 ? null : sum(usage) / usage.events

/** By all calls, as what a session cost is by all sessions: what a call cost times its calls is what a session cost. */
const costOfCall = ({ cost_usd, events }: UsageRow): number | null =>
  cost_usd === null || events === 0 ? null : Number(cost_usd) / events

/** What is not in a cost; empty where that is all. */
const missingIn = ({ isPriced = false }: Measure, usage: UsageRow): string => (isPriced ? missingOf(usage) : "")

const rounded = (value: number) => Format.short(Math.round(value))

const perSession = (sum: (usage: UsageRow) => number) => (usage: UsageRow) =>
  usage.sessions === null || usage.sessions === 0 ? null : sum(usage) / usage.sessions

const dollars =
  (digitsOf: (usages: ReadonlyArray<UsageRow>) => number): Measure["show"] =>
  (value, usages) =>
    Format.dollars(String(value), digitsOf(usages))

/** With the digits of the table above. */
const ofSession = dollars(meanDigits)

const costOf = (of: "mean" | "median" | "p95") => (usage: UsageRow) =>
  usage.cost_usd_per_session === null ? null : Number(usage.cost_usd_per_session[of])

const ofSessions: ReadonlyArray<Measure> = [
  {
    name: "Cost, mean",
    title: "What all cost divided by the sessions: the calls of a session times what a call cost",
    of: costOf("mean"),
    show: ofSession,
    isPriced: true
  },
  {
    name: "Cost, median",
    title: "Half of the sessions cost no more",
    of: costOf("median"),
    show: ofSession,
    isPriced: true
  },
  { name: "Cost, p95", title: "95 % of the sessions cost no more", of: costOf("p95"), show: ofSession, isPriced: true },
  {
    name: "Calls",
    title: "The mean of all sessions",
    of: perSession(({ events }) => events),
    show: (value) => value.toFixed(1),
    isCost: false
  },
  {
    name: "Tokens",
    title: "The mean of all sessions, in and out",
    of: perSession(({ input_tokens, output_tokens }) => input_tokens + output_tokens),
    show: rounded,
    isCost: false
  }
]

const ofCalls: ReadonlyArray<Measure> = [
  {
    name: "Duration, p50",
    title: "Half of the calls took no longer",
    of: ({ duration_ms_p50 }) => duration_ms_p50,
    show: Format.duration
  },
  {
    name: "Duration, p95",
    title: "95 % of the calls took no longer",
    of: ({ duration_ms_p95 }) => duration_ms_p95,
    show: Format.duration
  },
  {
    name: "Duration, p99",
    title: "99 % of the calls took no longer",
    of: ({ duration_ms_p99 }) => duration_ms_p99,
    show: Format.duration
  },
  {
    name: "Tokens in",
    title: "The mean of all calls",
    of: mean(({ input_tokens }) => input_tokens),
    show: rounded,
    isCost: false
  },
  {
    name: "Tokens out",
    title: "The mean of all calls",
    of: mean(({ output_tokens }) => output_tokens),
    show: rounded,
    isCost: false
  },
  {
    name: "Cost",
    title: "What all cost divided by the calls, with those that have no price",
    of: costOfCall,
    show: dollars(digitsBy((usage) => costOfCall(usage)?.toString() ?? null)),
    isPriced: true
  },
  {
    name: "Failed",
    title: "The part of all calls that failed",
    of: mean(({ errors }) => errors),
    show: (value) => Format.percent(value, 1)
  }
]

/** How much more or less the second is than the first. */
const Change = ({ after: to, before: from, measure }: ChangeProps) => {
  const { isCost = true, of, show } = measure
  const [before, after] = [of(from), of(to)]
  if (before === null || after === null) return <>–</>
  if ([from, to].some((usage) => missingIn(measure, usage) !== "")) {
    return <span class="soft">not known: some calls have no price</span>
  }
  if (before === after) return <>the same</>
  const by = before === 0 ? Infinity : Math.round((100 * (after - before)) / before)
  if (by === 0 || show(before, [from, to]) === show(after, [from, to])) return <>about the same</>
  const sign = by > 0 ? "▲ +" : "▼ −"
  const text = before === 0 ? "▲ from none" : `${sign}${Format.count(Math.abs(by))}%`
  if (!isCost) return <>{text}</>
  return (
    <b class={by > 0 ? "worse" : "better"}>
      {text} {by > 0 ? "worse" : "better"}
    </b>
  )
}

interface BarProps {
  /** Of the version. */
  readonly name: string
  readonly measure: Measure
  readonly usage: UsageRow
  /** Both. */
  readonly usages: ReadonlyArray<UsageRow>
  /** What the whole width stands for. */
  readonly most: number
}

const Bar = ({ measure, most, name, usage, usages }: BarProps) => {
  const value = measure.of(usage)
  const missing = missingIn(measure, usage)
  return (
    <>
      {value === null ? "–" : measure.show(value, usages)}
      {value !== null && missing !== "" && <span title={`at least: ${missing}`}>+</span>}
      <svg class={`hue-${Hue.of(name)}`} viewBox="0 0 100 4" preserveAspectRatio="none" aria-hidden="true">
        <rect width={value === null || most === 0 ? 0 : (100 * value) / most} height={4} />
      </svg>
    </>
  )
}

interface Props {
  readonly before: UsageRow | undefined
  readonly after: UsageRow | undefined
  readonly names: readonly [from: string, to: string]
}

interface MeasuredProps {
  readonly title: string
  /** What is measured. */
  readonly what: string
  readonly measures: ReadonlyArray<Measure>
  readonly before: UsageRow
  readonly after: UsageRow
  readonly names: Props["names"]
}

const Measured = ({ after, before, measures, names, title, what }: MeasuredProps) => {
  const bars = [before, after].map((usage, index) => ({
    title: (
      <Colored name={names[index]!}>
        <Plain text={names[index]!} />
      </Colored>
    ),
    class: "number measured",
    of: (measure: Measure) => (
      <Bar
        name={names[index]!}
        {...{ measure, usage }}
        usages={[before, after]}
        most={Math.max(measure.of(before) ?? 0, measure.of(after) ?? 0)}
      />
    )
  }))
  return (
    <section>
      <h2>{title}</h2>
      <Table
        label={title}
        isNarrow
        columns={[
          { title: what, isHead: true, of: ({ name, title }) => <span title={title}>{name}</span> },
          ...bars,
          number<Measure>("Change", (measure) => <Change {...{ after, before, measure }} />)
        ]}
        rows={measures}
        keyOf={({ name }) => name}
      />
    </section>
  )
}

export const Measures = ({ after, before, names }: Props) => {
  if (before === undefined || after === undefined) return null
  return (
    <>
      <Measured title="Each session" what="Of a session" measures={ofSessions} {...{ after, before, names }} />
      <Measured title="Each call" what="Of a call" measures={ofCalls} {...{ after, before, names }} />
    </>
  )
}
