/** Lists that are short enough to be read whole. */
import { api } from "./Client.ts"

/** Rows of a page, and those that are read at most. */
const limit = 1_000
const maxRows = 10 * limit

const all = async <Row>(rows: AsyncIterable<Row>, found: Array<Row> = []): Promise<ReadonlyArray<Row>> => {
  for await (const row of rows) if (found.push(row) === maxRows) break
  return found
}

/** `total` is of all rows together, if there are any. */
export const usage = async (query: Parameters<typeof api.readUsage>[0], signal: AbortSignal) => {
  const { next_cursor: cursor, total, usage } = await api.readUsage({ ...query, limit }, { signal })
  const rows =
    cursor === null ? usage : await all(api.readUsage.each({ ...query, limit, cursor }, { signal }), [...usage])
  return { rows, total: total ?? undefined }
}

export const versions = (agent_name: string, signal: AbortSignal) =>
  all(api.listAgentVersions.each({ agent_name, limit }, { signal }))

export const configurations = (agent_name: string, agent_version_name: string, signal: AbortSignal) =>
  all(api.listConfigurations.each({ agent_name, agent_version_name, limit }, { signal }))

export const fingerprints = (signal: AbortSignal) => all(api.listFingerprints.each({ limit }, { signal }))
