/** `#/overview?period&day&agent&agent_version&person`: hours or days, by these, by agent or version and by model, and what is stored. */
import { useEffect } from "preact/hooks"
import { PageHelp } from "../../help/PageHelp.tsx"
import { UsageCharts } from "../../parts/chart/UsageCharts.tsx"
import { read as readBySlot } from "../../parts/chart/usageBySlot.ts"
import { Colored } from "../../parts/Colored.tsx"
import { digitsIn } from "../../parts/Costs.tsx"
import { Bytes } from "../../parts/Facts.tsx"
import { NameFilters, namesOf } from "../../parts/Filters.tsx"
import { Link } from "../../parts/Link.tsx"
import * as Period from "../../parts/Period.ts"
import { Empty, Failed, Loading } from "../../parts/States.tsx"
import { UsageTable } from "../../parts/Usage.tsx"
import type { PageProps } from "../../route/PageProps.ts"
import * as Route from "../../route/Route.ts"
import * as Client from "../../server/Client.ts"
import * as Lists from "../../server/Lists.ts"
import { useAnswer } from "../../server/useAnswer.ts"
import * as Zone from "../../settings/Zone.ts"
import * as Format from "../../text/Format.ts"

const filterNames = ["agent", "agent_version", "person"] as const

const read = (period: Period.Period, filters: Client.Query) => async (signal: AbortSignal) => {
  const asked = Client.given(filters)
  const [usage, byModel, storage] = await Promise.all([
    readBySlot(period, asked, signal),
    Lists.usage({ group_by: "model", ...Period.queryOf(period), ...asked }, signal),
    Client.api.readStorage({}, { signal })
  ])
  return { usage, byModel, storage }
}

export const OverviewPage = ({ query }: PageProps) => {
  const whole = Period.byName(query.get("period"))
  const period = Period.ofDay(query.get("day")) ?? whole
  const filters = namesOf(query, filterNames)
  const { again, error, value } = useAnswer(read(period, filters), JSON.stringify([period.name, filters]))
  useEffect(() => void (document.title = "Overview · Tachograph"), [])
  if (error !== undefined) return <Failed isWhole error={error} again={again} />
  return (
    <section class="page">
      <div class="page-head">
        <h1>Overview</h1>
        <PageHelp />
        <Periods period={period} whole={whole} query={query} />
        <form class="filters" role="search" onSubmit={(event) => event.preventDefault()}>
          <NameFilters names={filterNames} values={filters} set={(changes) => Route.amend(changes, "go")} />
        </form>
      </div>
      {value === undefined ? <Loading what="the overview" /> : <Sums {...{ filters, period }} {...value} />}
    </section>
  )
}

interface PeriodsProps {
  readonly period: Period.Period
  /** What a day was chosen from. */
  readonly whole: Period.Period
  readonly query: URLSearchParams
}

const Periods = ({ period, query, whole }: PeriodsProps) => {
  const to = (changes: Route.Query) => Route.to(["overview"], { ...Object.fromEntries(query), day: null, ...changes })
  return (
    <nav class="periods" aria-label={`Period, in ${Zone.get()}`}>
      {period.day !== undefined && (
        <>
          <a href={to({})}>← {whole.title}</a>
          <span aria-current="true">{period.title}</span>
        </>
      )}
      <a href={to({ day: Period.today })} aria-current={query.get("day") === Period.today ? "true" : undefined}>
        Today
      </a>
      {Period.all.map(({ name, title }) => (
        <a key={name} href={to({ period: name })} aria-current={name === period.name ? "true" : undefined}>
          {title}
        </a>
      ))}
    </nav>
  )
}

type Read = Awaited<ReturnType<ReturnType<typeof read>>>

type SumsProps = Read & { readonly period: Period.Period; readonly filters: Client.Query }

const Sums = ({ byModel, filters, period, storage, usage }: SumsProps) => {
  const { after, before } = Period.queryOf(period)
  const sessions = (more: Route.Query) => Route.to(["sessions"], { ...filters, ...more })
  const failures = (more: Route.Query) => Route.to(["failures"], { ...filters, ...more })
  const linkOf = (kind: string, name: string) =>
    kind === "agent" ? Route.to(["agents", name]) : sessions({ [kind]: name, after, before })
  const digits = digitsIn([...usage.bySlot, ...byModel.rows])
  return (
    <>
      {usage.bySlot.length === 0 ? (
        <Empty title="Nothing was recorded in this time" />
      ) : (
        <>
          <UsageCharts
            {...{ digits, linkOf, period, usage }}
            failures={failures({ after, before })}
            openFailures={(after, before) => Route.go(failures({ after, before }))}
            openDay={(day) => Route.amend({ day }, "go")}
            openSessions={(after, before) => Route.go(sessions({ after, before }))}
          />
          <UsageTable
            title="Model"
            sort="cost"
            rows={byModel.rows}
            total={usage.whole}
            digits={digits}
            keyOf={({ model }) => model ?? ""}
            failuresOf={({ model }) => failures({ model, after, before })}
            nameOf={({ model }) =>
              model === null || model === undefined ? (
                "no model"
              ) : (
                <Colored name={model}>
                  <Link to={sessions({ model, after, before })} text={model} />
                </Colored>
              )
            }
          />
          <UsageTable
            title={period.by === "hour" ? "Hour" : "Day"}
            rows={usage.bySlot.toReversed()}
            total={usage.whole}
            digits={digits}
            keyOf={(row) => String(Period.slotOf(row))}
            failuresOf={(row) =>
              failures(row === usage.whole ? { after, before } : timesOf(period, Period.slotOf(row)))
            }
            nameOf={(row) => <Slot period={period} slot={Period.slotOf(row)} to={sessions} />}
          />
        </>
      )}
      <h2>Stored</h2>
      <Stored storage={storage as unknown as Readonly<Record<string, unknown>>} />
    </>
  )
}

interface SlotProps {
  readonly period: Period.Period
  readonly slot: number
  readonly to: (query: Route.Query) => string
}

const timesOf = (period: Period.Period, slot: number) => ({
  after: new Date(slot).toISOString(),
  before: new Date(Period.endOf(period, slot)).toISOString()
})

/** A link to the sessions of an hour or a day. */
const Slot = ({ period, slot, to }: SlotProps) => {
  const { after, before } = timesOf(period, slot)
  return (
    <a href={to({ after, before })} title={`${Format.exactly(after)}: sessions whose last call was then`}>
      {period.by === "hour" ? Format.moment(after) : Period.show(period, slot)}
    </a>
  )
}

const stored: Readonly<Record<string, string>> = {
  events: "Calls and other events",
  sent_bytes: "Requests and answers",
  new_bytes: "Of these, recorded for the first time",
  stored_bytes: "What they take, packed"
}

const Stored = ({ storage }: { readonly storage: Readonly<Record<string, unknown>> }) => (
  <dl class="facts narrow">
    {Object.entries(storage).map(([name, count]) =>
      typeof count === "number" ? (
        <div key={name}>
          <dt>{stored[name] ?? name.replaceAll("_", " ")}</dt>
          <dd>{name.endsWith("bytes") ? <Bytes value={count} /> : Format.count(count)}</dd>
        </div>
      ) : null
    )}
  </dl>
)
