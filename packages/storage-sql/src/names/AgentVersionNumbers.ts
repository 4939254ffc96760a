/** The numbers of the agents and agent versions that events name. */
import type { EventSummary } from "@tachograph/core"
import { Effect } from "effect"
import type { SqlClient } from "effect/sql"
import * as BulkValues from "../dialect/BulkValues.ts"
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

  /**
   * Creates the agents that `find` did not return. `createVersions` creates their versions, in a second step: it locks agents'
   * rows, which must come after all locks on the project's row.
   */
  const createAgents = Effect.fnUntraced(function* (
    project_id: number,
    events: ReadonlyArray<Named>,
    found: Map<string, Numbers>
  ) {
    const missing = new Map(events.map((each) => [keyOf(each), each]))
    for (const key of found.keys()) missing.delete(key)
    const agents =
      missing.size === 0
        ? new Map<string, number>()
        : yield* NumberedNames.ensure(
            sql,
            NumberedNames.agents,
            { project_id },
            new Map(
              Array.from(missing.values(), (each) => [each.agent, { description: `""`, ...times(each) }] as const)
            )
          )
    return { project_id, found, missing: Array.from(missing.values()), agents }
  })

  /** Creates the missing versions, and returns a lookup of all numbers. */
  const createVersions = Effect.fnUntraced(function* ({
    agents,
    found,
    missing,
    project_id
  }: Effect.Success<ReturnType<typeof createAgents>>) {
    for (const [agent, agent_number] of Array.from(agents).sort(([, a], [, b]) => a - b)) {
      const named = missing.filter((each) => each.agent === agent)
      const versions = yield* NumberedNames.ensure(
        sql,
        NumberedNames.agentVersions,
        { project_id, agent_number },
        new Map(named.map((each) => [each.agentVersion, times(each)] as const))
      )
      for (const each of named) {
        found.set(keyOf(each), { agent_number, agent_version_number: versions.get(each.agentVersion)! })
      }
    }
    return (named: Named): Numbers => found.get(keyOf(named))!
  })

  return { cached, find, createAgents, createVersions }
}

export type AgentVersions = ReturnType<typeof make>

const distinct = <Key extends "agent" | "agentVersion">(named: ReadonlyArray<Named>, key: Key) =>
  Array.from(new Set(named.map((each) => each[key])))

const times = ({ receivedAt }: Named) => ({ created_at: receivedAt.epochMilliseconds })
