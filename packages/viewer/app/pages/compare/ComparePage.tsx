/** `#/agents/{a}/compare?from=…&to=…`: what one version of an agent changed against another. */
import { useEffect } from "preact/hooks"
import { PageHelp } from "../../help/PageHelp.tsx"
import { ConversationSettings } from "../../diff/ConversationSettings.tsx"
import { PackagesDiff } from "../../diff/PackagesDiff.tsx"
import { WordDiff } from "../../diff/WordDiff.tsx"
import { Colored } from "../../parts/Colored.tsx"
import { Link } from "../../parts/Link.tsx"
import { Empty, Failed, Loading } from "../../parts/States.tsx"
import { UsageTable } from "../../parts/Usage.tsx"
import type { PageProps } from "../../route/PageProps.ts"
import * as Route from "../../route/Route.ts"
import { api } from "../../server/Client.ts"
import * as Lists from "../../server/Lists.ts"
import type { Configuration, Fingerprint } from "../../server/Types.ts"
import { useAnswer } from "../../server/useAnswer.ts"
import { plain } from "../../text/Hidden.ts"
import * as Names from "../../text/Names.ts"
import { Plain } from "../../text/Plain.tsx"
import { Measures } from "./Measures.tsx"

/** The configuration that stands for a version: the one with most calls. */
const mainOf = (configurations: ReadonlyArray<Configuration>): Configuration | undefined =>
  configurations.toSorted((one, other) => other.events - one.events)[0]

/** Without the model, which has its own place. */
const settingsOf = ({ instructions, parameters: { model: _model, ...parameters }, tools }: Configuration) => ({
  instructions,
  parameters,
  tools
})

/** One line for each fact of a runtime that its program chose, without its packages. */
const factsOf = ({ all_packages: _packages, created_at: _at, fingerprint_id: _id, ...facts }: Fingerprint): string =>
  Object.entries(facts)
    .flatMap(([name, value]) => (value === null ? [] : [`${Names.ofField(name)}: ${String(value)}`]))
    .join("\n")

const read = (agent: string, from: string, to: string) => async (signal: AbortSignal) => {
  const [versions, usage, before, after] = await Promise.all([
    Lists.versions(agent, signal),
    Lists.usage({ group_by: "agent_version", agent }, signal),
    from === "" ? [] : Lists.configurations(agent, from, signal),
    to === "" ? [] : Lists.configurations(agent, to, signal)
  ])
  const configurations = [mainOf(before), mainOf(after)] as const
  const fingerprints = await Promise.all(
    configurations.map((configuration) =>
      configuration === undefined
        ? undefined
        : api.getFingerprint({ fingerprint_id: configuration.fingerprint_id }, { signal })
    )
  )
  return { names: versions.map(({ agent_version_name }) => agent_version_name), usage, configurations, fingerprints }
}

interface ChoiceProps {
  readonly name: "from" | "to"
  readonly value: string
  readonly names: ReadonlyArray<string>
}

const Choice = ({ name, names, value }: ChoiceProps) => (
  <label>
    <span>{name === "from" ? "From" : "To"}</span>{" "}
    <select value={value} onChange={({ currentTarget }) => Route.amend({ [name]: currentTarget.value }, "go")}>
      <option value="">choose</option>
      {names.map((each) => (
        <option key={each} value={each}>
          {plain(each)}
        </option>
      ))}
    </select>
  </label>
)

const Model = ({ of: { model } }: { readonly of: Configuration }) => (
  <Colored name={model ?? ""}>
    <Plain as="b" text={model ?? "no model"} />
  </Colored>
)

/** Comes first: what else differs may follow from it. */
const ModelChange = ({ after, before }: { readonly before: Configuration; readonly after: Configuration }) => (
  <p class="model-change">
    The model changed: <Model of={before} /> → <Model of={after} />
  </p>
)

export const ComparePage = ({ query, rest }: PageProps) => {
  const agent = rest[0]!
  const from = query.get("from") ?? ""
  const to = query.get("to") ?? ""
  const { again, error, value } = useAnswer(read(agent, from, to), JSON.stringify([agent, from, to]))
  useEffect(
    () => void (document.title = `${plain(agent)}, ${plain(from)} and ${plain(to)} · Tachograph`),
    [agent, from, to]
  )
  if (error !== undefined) return <Failed isWhole error={error} again={again} />
  if (value === undefined) return <Loading what="the versions" />
  const [before, after] = value.configurations
  const usageOf = (name: string) => value.usage.rows.find(({ agent_version }) => agent_version === name)
  return (
    <section class="page">
      <div class="page-head">
        <h1>
          <Link to={Route.to(["agents", agent])} text={agent} />, compared
        </h1>
        <PageHelp />
        <div class="choices">
          <Choice name="from" value={from} names={value.names} />
          <Choice name="to" value={to} names={value.names} />
        </div>
      </div>
      {before !== undefined && after !== undefined && before.model !== after.model && (
        <ModelChange before={before} after={after} />
      )}
      <UsageTable
        title="Version"
        rows={[from, to].flatMap((name) => usageOf(name) ?? [])}
        keyOf={({ agent_version }) => agent_version ?? ""}
        failuresOf={({ agent_version }) => Route.to(["failures"], { agent, agent_version })}
        nameOf={({ agent_version }) => (
          <Colored name={agent_version ?? ""}>
            <Plain text={agent_version ?? ""} />
          </Colored>
        )}
      />
      <Measures before={usageOf(from)} after={usageOf(to)} names={[from, to]} />
      {before === undefined || after === undefined ? (
        <Empty title={from === "" || to === "" ? "Choose two versions" : "One of them has no calls"} />
      ) : (
        <ConversationSettings before={settingsOf(before)} after={settingsOf(after)}>
          <section>
            <h2>Runtime and commit</h2>
            <WordDiff before={factsOf(value.fingerprints[0]!)} after={factsOf(value.fingerprints[1]!)} />
          </section>
          <section>
            <h2>Packages</h2>
            <PackagesDiff
              before={value.fingerprints[0]!.all_packages ?? {}}
              after={value.fingerprints[1]!.all_packages ?? {}}
              names={[from, to]}
            />
          </section>
        </ConversationSettings>
      )}
    </section>
  )
}
