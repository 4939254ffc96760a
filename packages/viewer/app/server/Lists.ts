/** Lists that are short enough to be read whole. */
import * as Client from "./Client.ts"
import type { AgentVersion, Configuration, Fingerprint, UsageRow } from "./Types.ts"

/** Pages that are read at most, of 1,000 rows each. */
const maxPages = 10

const readAll = async <A>(
  name: string,
  parts: ReadonlyArray<string>,
  query: Client.Query,
  signal: AbortSignal
): Promise<ReadonlyArray<A>> => {
  const rows: Array<A> = []
  let cursor: string | null = null
  for (let page = 0; page < maxPages; page++) {
    const answer: Readonly<Record<string, unknown>> = await Client.get(
      parts,
      { ...query, limit: 1_000, cursor },
      signal
    )
    rows.push(...(answer[name] as ReadonlyArray<A>))
    cursor = answer["next_cursor"] as string | null
    if (cursor === null) break
  }
  return rows
}

export const usage = (query: Client.Query, signal: AbortSignal) => readAll<UsageRow>("usage", ["usage"], query, signal)

export const versions = (agent: string, signal: AbortSignal) =>
  readAll<AgentVersion>("agent_versions", ["agents", agent, "agent-versions"], {}, signal)

export const configurations = (agent: string, version: string, signal: AbortSignal) =>
  readAll<Configuration>("configurations", ["agents", agent, "agent-versions", version, "configurations"], {}, signal)

export const fingerprints = (signal: AbortSignal) => readAll<Fingerprint>("fingerprints", ["fingerprints"], {}, signal)
