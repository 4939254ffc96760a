/** What the versions of an agent were called with: the same instructions or tools are one, by their SHA-256. */
import { instructionsText } from "@tachograph/client/compare"
import * as Lists from "../../server/Lists.ts"
import type { Configuration, Fingerprint } from "../../server/Types.ts"
import { sha256 } from "../../text/Sha256.ts"
import * as Words from "../../text/Words.ts"

export type Kind = "instructions" | "tools"

export interface Used {
  readonly sha256: string
  readonly text: string
  readonly line: string
  readonly events: number
  readonly versions: ReadonlyArray<string>
  /** Ids of fingerprints, with their commits where they say one. */
  readonly fingerprints: ReadonlyArray<{ readonly id: string; readonly commit: string | null }>
  readonly firstAt: string
  readonly lastAt: string
  readonly firstEventId: string
  /** Where it is several texts that differ in one short place only: how many, and at which character. The text is the latest. */
  readonly variants?: Configuration["variants"]
}

interface OfVersion {
  readonly version: string
  readonly configuration: Configuration
}

export const textOf: Readonly<Record<Kind, (configuration: Configuration) => string>> = {
  instructions: instructionsText,
  tools: ({ tools }) => (tools.length === 0 ? "" : JSON.stringify(tools, undefined, 2))
}

const lineOf: Readonly<Record<Kind, (configuration: Configuration) => string>> = {
  instructions: (configuration) => Words.line(textOf.instructions(configuration)),
  tools: ({ tools }) => Words.line(tools.map((tool) => Words.textOf(tool["name"])).join(", "))
}

const different = <A>(values: ReadonlyArray<A>): ReadonlyArray<A> => Array.from(new Set(values))

/** The latest first. Event ids are in the order of time. */
const of = (
  kind: Kind,
  all: ReadonlyArray<OfVersion>,
  commits: ReadonlyMap<string, string | null>
): ReadonlyArray<Used> =>
  Array.from(
    Map.groupBy(all, ({ configuration }) => textOf[kind](configuration)),
    ([text, uses]): Used => {
      const configurations = uses.map(({ configuration }) => configuration)
      const sorted = (key: "first_used_at" | "last_used_at" | "first_event_id") =>
        configurations.map((configuration) => configuration[key]).toSorted()
      return {
        sha256: sha256(text),
        text,
        line: lineOf[kind](configurations[0]!),
        events: configurations.reduce((sum, { events }) => sum + events, 0),
        versions: different(uses.map(({ version }) => version)),
        fingerprints: different(configurations.map(({ fingerprint_id }) => fingerprint_id)).map((id) => ({
          id,
          commit: commits.get(id) ?? null
        })),
        firstAt: sorted("first_used_at")[0]!,
        lastAt: sorted("last_used_at").at(-1)!,
        firstEventId: sorted("first_event_id")[0]!,
        ...(kind === "instructions" ? { variants: uses[0]!.configuration.variants } : {})
      }
    }
  ).toSorted((one, other) => (one.lastAt < other.lastAt ? 1 : -1))

export const read = (agent: string, versions: ReadonlyArray<string>) => async (signal: AbortSignal) => {
  const [fingerprints, ...configurations] = await Promise.all([
    Lists.fingerprints(signal),
    ...versions.map(async (version) =>
      (await Lists.configurations(agent, version, signal)).map((configuration): OfVersion => ({
        version,
        configuration
      }))
    )
  ])
  const all = configurations.flat()
  const commits = new Map(
    (fingerprints as ReadonlyArray<Fingerprint>).map((each) => [each.fingerprint_id, each.git_commit_hash])
  )
  return { instructions: of("instructions", all, commits), tools: of("tools", all, commits) }
}
