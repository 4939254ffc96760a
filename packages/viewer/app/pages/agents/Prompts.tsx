/** The prompts of an agent: which versions and runtimes used the same instructions, and from when to when. */
import { Time } from "../../parts/Facts.tsx"
import { Failed, Loading } from "../../parts/States.tsx"
import * as Route from "../../route/Route.ts"
import * as Lists from "../../server/Lists.ts"
import type { Configuration, Part } from "../../server/Types.ts"
import { useAnswer } from "../../server/useAnswer.ts"
import * as Format from "../../text/Format.ts"
import { Plain } from "../../text/Plain.tsx"
import * as Words from "../../text/Words.ts"

/** Versions that are looked at: the latest. */
const maxVersions = 10

interface Used {
  readonly version: string
  readonly configuration: Configuration
}

interface Prompt {
  readonly text: string
  readonly events: number
  readonly versions: ReadonlyArray<string>
  readonly fingerprints: ReadonlyArray<string>
  readonly firstAt: string
  readonly lastAt: string
  readonly firstEventId: string
}

const read = (agent: string, versions: ReadonlyArray<string>) => async (signal: AbortSignal) => {
  const all = await Promise.all(
    versions.map(async (version) =>
      (await Lists.configurations(agent, version, signal)).map((configuration): Used => ({ version, configuration }))
    )
  )
  return promptsOf(all.flat())
}

const textOf = ({ instructions }: Configuration): string =>
  (instructions as ReadonlyArray<Part>).map(Words.ofPart).join("\n\n")

/** The latest first. Event ids are in the order of time. */
const promptsOf = (used: ReadonlyArray<Used>): ReadonlyArray<Prompt> =>
  Array.from(
    Map.groupBy(used, ({ configuration }) => textOf(configuration)),
    ([text, uses]): Prompt => {
      const configurations = uses.map(({ configuration }) => configuration)
      return {
        text,
        events: configurations.reduce((sum, { events }) => sum + events, 0),
        versions: Array.from(new Set(uses.map(({ version }) => version))),
        fingerprints: Array.from(new Set(configurations.map(({ fingerprint_id }) => fingerprint_id))),
        firstAt: configurations.map(({ first_used_at }) => first_used_at).toSorted()[0]!,
        lastAt: configurations
          .map(({ last_used_at }) => last_used_at)
          .toSorted()
          .at(-1)!,
        firstEventId: configurations.map(({ first_event_id }) => first_event_id).toSorted()[0]!
      }
    }
  ).toSorted((one, other) => (one.lastAt < other.lastAt ? 1 : -1))

interface Props {
  readonly agent: string
  /** From the first to the last. */
  readonly versions: ReadonlyArray<string>
}

export const Prompts = ({ agent, versions }: Props) => {
  const latest = versions.slice(-maxVersions)
  const { again, error, value } = useAnswer(read(agent, latest), JSON.stringify([agent, latest]))
  return (
    <section>
      <h2>Prompts</h2>
      {error !== undefined && <Failed error={error} again={again} />}
      {value === undefined && error === undefined && <Loading what="the prompts" />}
      {value?.length === 0 && <p class="hint">No call was recorded.</p>}
      {value !== undefined && value.length > 0 && <PromptsTable agent={agent} prompts={value} />}
      {versions.length > maxVersions && <p class="hint">Of the latest {maxVersions} versions.</p>}
    </section>
  )
}

const PromptsTable = ({ agent, prompts }: { readonly agent: string; readonly prompts: ReadonlyArray<Prompt> }) => (
  <div class="table-scroll" tabIndex={0} role="region" aria-label="Prompts">
    <table class="rows prompts">
      <thead>
        <tr>
          <th scope="col">Prompt</th>
          <th scope="col">Versions</th>
          <th scope="col">Runtimes</th>
          <th scope="col" class="number">
            Calls
          </th>
          <th scope="col" class="number">
            Used
          </th>
        </tr>
      </thead>
      <tbody>
        {prompts.map((prompt) => (
          <tr key={prompt.text}>
            <td class="title">
              <a href={Route.to(["events", prompt.firstEventId], { tab: "settings" })} title="Its first call">
                {prompt.text === "" ? <i>No instructions</i> : <Plain text={Words.line(prompt.text)} />}
              </a>
              <small>{Format.count(prompt.text.length)} characters</small>
            </td>
            <td>
              {prompt.versions.map((version) => (
                <a key={version} class="each" href={Route.to(["agents", agent], { version })}>
                  <Plain text={version} />
                </a>
              ))}
            </td>
            <td>
              {prompt.fingerprints.map((id) => (
                <a key={id} class="each" href={Route.to(["fingerprints", id])}>
                  <code>{id.slice(0, 8)}</code>
                </a>
              ))}
            </td>
            <td class="number">{Format.count(prompt.events)}</td>
            <td class="number">
              <Time at={prompt.firstAt} />
              <small>
                to <Time at={prompt.lastAt} />
              </small>
            </td>
          </tr>
        ))}
      </tbody>
    </table>
  </div>
)
