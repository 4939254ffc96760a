/** `#/agents/{a}/compare?from=…&to=…`: what one version of an agent changed against another. */
import { mainConfiguration } from "@tachograph/client/compare"
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

/** Rows of the one page that is read, which has the latest 2,000 calls. */
const limit = 1_000

/** What stands for a version: a configuration, and the runtime of its calls. */
interface Used {
  readonly configuration: Configuration
  readonly fingerprint: Fingerprint
}

const readUsed = async (
  agent_name: string,
  agent_version_name: string,
  signal: AbortSignal
): Promise<Used | undefined> => {
  if (agent_version_name === "") return undefined
  const { configurations } = await api.listConfigurations({ agent_name, agent_version_name, limit }, { signal })
  const configuration = mainConfiguration(configurations)
  if (configuration === undefined) return undefined
  const { fingerprint_id } = configuration
  return { configuration, fingerprint: await api.getFingerprint({ fingerprint_id }, { signal }) }
}

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
    readUsed(agent, from, signal),
    readUsed(agent, to, signal)
  ])
  return { names: versions.map(({ agent_version_name }) => agent_version_name), usage, before, after }
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

const Model = ({
  of: {
    configuration: { model }
  }
}: {
  readonly of: Used
}) => (
  <Colored name={model ?? ""}>
    <Plain as="b" text={model ?? "no model"} />
  </Colored>
)

/** Comes first: what else differs may follow from it. */
const ModelChange = ({ after, before }: { readonly before: Used; readonly after: Used }) => (
  <p class="model-change">
    The model changed: <Model of={before} /> → <Model of={after} />
  </p>
)

interface DifferencesProps {
  readonly before: Used
  readonly after: Used
  readonly names: readonly [before: string, after: string]
}

const Differences = ({ after, before, names }: DifferencesProps) => (
  <ConversationSettings before={settingsOf(before.configuration)} after={settingsOf(after.configuration)}>
    <section>
      <h2>Runtime and commit</h2>
      <WordDiff before={factsOf(before.fingerprint)} after={factsOf(after.fingerprint)} />
    </section>
    <section>
      <h2>Packages</h2>
      <PackagesDiff
        before={before.fingerprint.all_packages ?? {}}
        after={after.fingerprint.all_packages ?? {}}
        names={names}
      />
    </section>
  </ConversationSettings>
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
  const { after, before } = value
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
      {before !== undefined && after !== undefined && before.configuration.model !== after.configuration.model && (
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
        <Differences before={before} after={after} names={[from, to]} />
      )}
    </section>
  )
}
