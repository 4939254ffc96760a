/** `#/agents/{a}`: the versions of an agent, and with which prompts, tools and settings each was used. */
import { useEffect } from "preact/hooks"
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
import { VersionsChart } from "./VersionsChart.tsx"

const read = (agent: string) => async (signal: AbortSignal) => {
  const [versions, usage, byDay] = await Promise.all([
    Lists.versions(agent, signal),
    Lists.usage({ group_by: "agent_version", agent }, signal),
    Lists.usage({ group_by: "day,agent_version", agent, ...Period.queryOf(Period.month) }, signal)
  ])
  return { versions, usage, byDay }
}

export const AgentPage = ({ query, rest }: PageProps) => {
  const agent = rest[0]!
  const { again, error, value } = useAnswer(read(agent), agent)
  useEffect(() => void (document.title = `${plain(agent)} · Tachograph`), [agent])
  if (error !== undefined) return <Failed isWhole error={error} again={again} />
  if (value === undefined) return <Loading what="the agent" />
  const names = value.versions.map(({ agent_version_name }) => agent_version_name)
  const order = new Map(names.map((name, index) => [name, index]))
  const rows = value.usage.toSorted(
    (one, other) => (order.get(other.agent_version ?? "") ?? 0) - (order.get(one.agent_version ?? "") ?? 0)
  )
  const shown = query.get("version") ?? rows[0]?.agent_version ?? names.at(-1)
  const [last, previous] = [names.at(-1), names.at(-2)]
  return (
    <section class="page">
      <div class="page-head">
        <Plain as="h1" text={agent} />
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
      <VersionsChart rows={value.byDay} />
      <UsageTable
        title="Version"
        rows={rows}
        keyOf={({ agent_version }) => agent_version ?? ""}
        nameOf={({ agent_version }) => (
          <>
            <a
              href={Route.to(["agents", agent], { version: agent_version })}
              aria-current={agent_version === shown ? "true" : undefined}
            >
              <Plain text={agent_version ?? ""} />
            </a>
            <AboutVersion version={value.versions[order.get(agent_version ?? "") ?? -1]} />
          </>
        )}
      />
      <Prompts agent={agent} versions={names} />
      {shown !== undefined && <Configurations key={shown} agent={agent} version={shown} />}
    </section>
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
