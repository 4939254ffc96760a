/** Lists that are short enough to be read whole. */
import { api } from "./Client.ts"

/** Rows of a page, and those that are read at most. */
const limit = 1_000
const maxRows = 10 * limit

const all = async <Row>(rows: AsyncIterable<Row>): Promise<ReadonlyArray<Row>> => {
  const found: Array<Row> = []
  for await (const row of rows) if (found.push(row) === maxRows) break
  return found
}

export const usage = (query: Parameters<typeof api.readUsage>[0], signal: AbortSignal) =>
  all(api.readUsage.each({ ...query, limit }, { signal }))

export const versions = (agent_name: string, signal: AbortSignal) =>
  all(api.listAgentVersions.each({ agent_name, limit }, { signal }))

export const configurations = (agent_name: string, agent_version_name: string, signal: AbortSignal) =>
  all(api.listConfigurations.each({ agent_name, agent_version_name, limit }, { signal }))

export const fingerprints = (signal: AbortSignal) => all(api.listFingerprints.each({ limit }, { signal }))
