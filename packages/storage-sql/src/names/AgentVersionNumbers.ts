/** The numbers of the agents and agent versions that events name. */
import type { EventSummary } from "@tachograph/core"
import * as Effect from "effect/Effect"
import type { SqlClient } from "effect/sql"
import * as BulkValues from "../dialect/BulkValues.ts"
import * as Locks from "../dialect/Locks.ts"
import * as NumberedNames from "./NumberedNames.ts"

type Named = Pick<EventSummary, "agent" | "agentVersion" | "receivedAt">

export interface Numbers {
  readonly agent_number: number
  readonly agent_version_number: number
}

const keyOf = ({ agent, agentVersion }: Pick<Named, "agent" | "agentVersion">): string =>
  JSON.stringify([agent, agentVersion])

/** Versions whose numbers are cached. An entry stays valid: numbers do not change, and versions are never deleted. */
const maxCached = 10_000

export const make = (sql: SqlClient.SqlClient) => {
  const cache = new Map<string, Numbers>()

  const cached = (project_id: number, named: Pick<Named, "agent" | "agentVersion">): Numbers | undefined =>
    cache.get(`${project_id} ${keyOf(named)}`)

  /** Filters by each of the two names, for which there are indexes; may also return combinations that were not asked for. */
  const select = (project_id: number, named: ReadonlyArray<Named>) =>
    sql<{
      agent: Named["agent"]
      version: Named["agentVersion"]
      agent_number: number
      agent_version_number: number
    }>`SELECT a.agent_name AS agent, v.agent_version_name AS version, a.agent_number, v.agent_version_number
      FROM agents a JOIN agent_versions v ON v.project_id = a.project_id AND v.agent_number = a.agent_number
      WHERE a.project_id = ${project_id} AND ${BulkValues.isAmong(sql, "a.agent_name", "varchar", distinct(named, "agent"))}
        AND ${BulkValues.isAmong(sql, "v.agent_version_name", "varchar", distinct(named, "agentVersion"))}`

  /**
   * The numbers of those versions that exist. Call it at the start of a transaction: what it reads is committed, so a
   * rollback cannot invalidate the cache.
   */
  const find = Effect.fnUntraced(function* (project_id: number, events: ReadonlyArray<Named>) {
    const found = new Map<string, Numbers>()
    const uncached: Array<Named> = []
    for (const each of events) {
      const numbers = cached(project_id, each)
      if (numbers === undefined) uncached.push(each)
      else found.set(keyOf(each), numbers)
    }
    if (uncached.length === 0) return found
    for (const { agent, agent_number, agent_version_number, version } of yield* select(project_id, uncached)) {
      const key = keyOf({ agent, agentVersion: version })
      const numbers = { agent_number, agent_version_number }
      found.set(key, numbers)
      if (cache.size >= maxCached) cache.clear()
      cache.set(`${project_id} ${key}`, numbers)
    }
    return found
  })

  /** One event for each version that `find` did not return. */
  const missingOf = (events: ReadonlyArray<Named>, found: ReadonlyMap<string, Numbers>): ReadonlyArray<Named> => {
    const missing = new Map(events.map((each) => [keyOf(each), each]))
    for (const key of found.keys()) missing.delete(key)
    return Array.from(missing.values())
  }

  /**
   * Creates the agents of missing versions. `createVersions` creates the versions, in a second step: it locks agents' rows, which must
   * come after all locks on the project's row.
   */
  const createAgents = Effect.fnUntraced(function* (
    project_id: number,
    missing: ReadonlyArray<Named>,
    found: Map<string, Numbers>
  ) {
    const agents =
      missing.length === 0
        ? new Map<string, number>()
        : yield* NumberedNames.ensure(
            sql,
            NumberedNames.agents,
            project_id,
            new Map(missing.map((each) => [each.agent, { description: null, ...times(each) }] as const))
          )
    return { project_id, found, missing, agents }
  })

  /** Creates the missing versions, and returns a lookup of all numbers. */
  const createVersions = Effect.fnUntraced(function* ({
    agents,
    found,
    missing,
    project_id
  }: Effect.Success<ReturnType<typeof createAgents>>) {
    if (missing.length > 0) {
      const wanted = missing.map((each) => ({
        agent_number: agents.get(each.agent)!,
        agent_version_name: each.agentVersion,
        description: null,
        ...times(each)
      }))
      const numbers = yield* ensure(sql, project_id, wanted)
      for (const [index, each] of missing.entries()) {
        const { agent_number } = wanted[index]!
        found.set(keyOf(each), { agent_number, agent_version_number: numbers[index]! })
      }
    }
    return (named: Named): Numbers => found.get(keyOf(named))!
  })

  return { cached, find, missingOf, createAgents, createVersions }
}

export type AgentVersions = ReturnType<typeof make>

const distinct = <Key extends "agent" | "agentVersion">(named: ReadonlyArray<Named>, key: Key) =>
  Array.from(new Set(named.map((each) => each[key])))

const times = ({ receivedAt }: Named) => ({ created_at: receivedAt.epochMilliseconds })

const wantedTypes = { agent_number: "integer", agent_version_name: "varchar" } as const satisfies BulkValues.Types

const versionTypes = {
  project_id: "integer",
  agent_number: "integer",
  agent_version_number: "integer",
  agent_version_name: "varchar",
  created_at: "bigint",
  description: "varchar"
} as const satisfies BulkValues.Types

const counterTypes = { agent_number: "integer", versions: "integer" } as const satisfies BulkValues.Types

export interface WantedVersion {
  readonly agent_number: number
  readonly agent_version_name: string
  readonly created_at: number
  /** As JSON text. Null if an event names it. */
  readonly description: string | null
}

/**
 * The numbers of versions of existing agents, without repetitions; creates those that do not exist. Call it in a transaction,
 * after all calls that lock the project's row. Locks the agents' rows in their order. Takes four statements for any number of
 * agents.
 */
export const ensure = Effect.fnUntraced(function* (
  sql: SqlClient.SqlClient,
  project_id: number,
  wanted: ReadonlyArray<WantedVersion>
) {
  const wantedColumns = BulkValues.make(sql, BulkValues.named(wantedTypes))
  const versionColumns = BulkValues.make(sql, BulkValues.named(versionTypes))
  const counterColumns = BulkValues.make(sql, BulkValues.named(counterTypes))
  const agentNumbers = Array.from(new Set(wanted.map(({ agent_number }) => agent_number)))

  // The lookup after the locks sees versions that other transactions committed before the locks were granted.
  const agents = yield* sql<{ agent_number: number; versions: number }>`SELECT agent_number, versions FROM agents
    WHERE project_id = ${project_id} AND ${BulkValues.isAmong(sql, "agent_number", "integer", agentNumbers)}
    ORDER BY agent_number ${Locks.update(sql)}`
  const numbers = new Map<string, number>()
  for (const row of yield* sql<Numbers & { readonly agent_version_name: string }>`
    WITH wanted ${wantedColumns.names} AS (${wantedColumns.of(wanted)})
    SELECT v.agent_number, v.agent_version_name, v.agent_version_number FROM wanted JOIN agent_versions v
      ON v.project_id = ${project_id} AND v.agent_number = wanted.agent_number
        AND v.agent_version_name = wanted.agent_version_name`) {
    numbers.set(nameOf(row), row.agent_version_number)
  }

  const counters = new Map(agents.map(({ agent_number, versions }) => [agent_number, versions]))
  const created = wanted
    .filter((each) => !numbers.has(nameOf(each)))
    .sort((a, b) => (a.agent_version_name < b.agent_version_name ? -1 : 1))
    .map((each) => {
      const agent_version_number = counters.get(each.agent_number)! + 1
      counters.set(each.agent_number, agent_version_number)
      numbers.set(nameOf(each), agent_version_number)
      return { ...each, project_id, agent_version_number }
    })
  if (created.length > 0) {
    const changed = Array.from(counters, ([agent_number, versions]) => ({ agent_number, versions }))
    yield* sql`INSERT INTO agent_versions ${versionColumns.names} ${versionColumns.of(created)}`
    yield* sql`WITH counted ${counterColumns.names} AS (${counterColumns.of(changed)})
      UPDATE agents SET versions = counted.versions FROM counted
      WHERE agents.project_id = ${project_id} AND agents.agent_number = counted.agent_number`
  }
  return wanted.map((each) => numbers.get(nameOf(each))!)
})

const nameOf = ({ agent_number, agent_version_name }: Pick<WantedVersion, "agent_number" | "agent_version_name">) =>
  `${agent_number} ${agent_version_name}`
