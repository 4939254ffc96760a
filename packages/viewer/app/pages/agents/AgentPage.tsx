/** `#/agents/{a}`: the versions of an agent, and with which prompts, tools and settings each was used. */
import { useEffect } from "preact/hooks"
import { PageHelp } from "../../help/PageHelp.tsx"
import { UsageCharts } from "../../parts/chart/UsageCharts.tsx"
import { read as readBySlot, type UsageBySlot } from "../../parts/chart/usageBySlot.ts"
import { Colored } from "../../parts/Colored.tsx"
import { digitsIn } from "../../parts/Costs.tsx"
import { Time } from "../../parts/Facts.tsx"
import * as Period from "../../parts/Period.ts"
import { Failed, Loading } from "../../parts/States.tsx"
import { UsageTable } from "../../parts/Usage.tsx"
import type { PageProps } from "../../route/PageProps.ts"
import * as Route from "../../route/Route.ts"
import * as Lists from "../../server/Lists.ts"
import type { AgentVersion } from "../../server/Types.ts"
import { useAnswer } from "../../server/useAnswer.ts"
import { plain } from "../../text/Hidden.ts"
import { Plain } from "../../text/Plain.tsx"
import { Configurations } from "./Configurations.tsx"
import { Prompts } from "./Prompts.tsx"

const read = (agent: string, period: Period.Period) => async (signal: AbortSignal) => {
  const [versions, sums, usage] = await Promise.all([
    Lists.versions(agent, signal),
    Lists.usage({ group_by: "agent_version", agent }, signal),
    readBySlot(period, { agent }, signal)
  ])
  return { versions, sums, usage }
}

export const AgentPage = ({ query, rest }: PageProps) => {
  const agent = rest[0]!
  const period = Period.ofDay(query.get("day")) ?? Period.month
  const { again, error, value } = useAnswer(read(agent, period), JSON.stringify([agent, period.name]))
  useEffect(() => void (document.title = `${plain(agent)} · Tachograph`), [agent])
  if (error !== undefined) return <Failed isWhole error={error} again={again} />
  if (value === undefined) return <Loading what="the agent" />
  const names = value.versions.map(({ agent_version_name }) => agent_version_name)
  const order = new Map(names.map((name, index) => [name, index]))
  const rows = value.sums.rows.toSorted(
    (one, other) => (order.get(other.agent_version ?? "") ?? 0) - (order.get(one.agent_version ?? "") ?? 0)
  )
  const shown = query.get("version") ?? rows[0]?.agent_version ?? names.at(-1)
  const [last, previous] = [names.at(-1), names.at(-2)]
  return (
    <section class="page">
      <div class="page-head">
        <Plain as="h1" text={agent} />
        <PageHelp />
        <p>
          <a href={Route.to(["sessions"], { agent })}>Its sessions</a>
          {last !== undefined && previous !== undefined && (
            <>
              {" · "}
              <a href={Route.to(["agents", agent, "compare"], { from: previous, to: last })}>
                Compare <Plain text={previous} /> with <Plain text={last} />
              </a>
            </>
          )}
        </p>
      </div>
      <Charts {...{ agent, period, query }} usage={value.usage} digits={digitsIn(value.sums.rows)} />
      <UsageTable
        title="Version"
        rows={rows}
        total={value.sums.total}
        keyOf={({ agent_version }) => agent_version ?? ""}
        failuresOf={({ agent_version }) => Route.to(["failures"], { agent, agent_version })}
        nameOf={({ agent_version }) => (
          <>
            <Colored name={agent_version ?? ""}>
              <a
                href={Route.to(["agents", agent], { version: agent_version })}
                aria-current={agent_version === shown ? "true" : undefined}
              >
                <Plain text={agent_version ?? ""} />
              </a>
            </Colored>
            <AboutVersion version={value.versions[order.get(agent_version ?? "") ?? -1]} />
          </>
        )}
      />
      <Prompts agent={agent} versions={names} />
      {shown !== undefined && <Configurations key={shown} agent={agent} version={shown} />}
    </section>
  )
}

interface ChartsProps {
  readonly agent: string
  readonly period: Period.Period
  readonly query: URLSearchParams
  readonly usage: UsageBySlot
  readonly digits: number
}

/** Of the last days, or of the hours of one. */
const Charts = ({ agent, digits, period, query, usage }: ChartsProps) => {
  const { after, before } = Period.queryOf(period)
  const linkOf = (kind: string, name: string) =>
    kind === "agent_version" ? Route.to(["agents", agent], { version: name }) : undefined
  return (
    <>
      <p class="periods">
        {period.day === undefined ? (
          <span aria-current="true">{period.title}</span>
        ) : (
          <>
            <a href={Route.to(["agents", agent], { ...Object.fromEntries(query), day: null })}>
              ← {Period.month.title}
            </a>
            <span aria-current="true">{period.title}</span>
          </>
        )}
        <a href={Route.to(["overview"], { agent, day: period.day })}>Other periods and people →</a>
      </p>
      {usage.bySlot.length === 0 ? (
        <p class="hint">It has recorded nothing in this time.</p>
      ) : (
        <UsageCharts
          {...{ digits, linkOf, period, usage }}
          failures={Route.to(["failures"], { agent, after, before })}
          openFailures={(after, before) => Route.go(Route.to(["failures"], { agent, after, before }))}
          openDay={(day) => Route.amend({ day }, "go")}
          openSessions={(after, before) => Route.go(Route.to(["sessions"], { agent, after, before }))}
        />
      )}
    </>
  )
}

/** When it began, and whether it is still meant to be used. */
const AboutVersion = ({ version }: { readonly version: AgentVersion | undefined }) => {
  if (version === undefined) return null
  return (
    <small class="about">
      since <Time at={version.created_at} />
      {version.deprecated_at !== null && (
        <span class="warn">
          , deprecated <Time at={version.deprecated_at} />
        </span>
      )}
      {version.description !== null && (
        <>
          {" · "}
          <Plain text={version.description} />
        </>
      )}
    </small>
  )
}
