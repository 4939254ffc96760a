/** The numbers of agents and of their versions, for events that name both. */
import type { EventSummary } from "@tachograph/core"
import { Effect } from "effect"
import type { SqlClient } from "effect/sql"
import * as BulkValues from "../sql/BulkValues.ts"
import * as NumberedNames from "./NumberedNames.ts"

type Named = Pick<EventSummary, "agent" | "agentVersion" | "receivedAt">

export interface Numbers {
  readonly agent_number: number
  readonly agent_version_number: number
}

const keyOf = ({ agent, agentVersion }: Pick<Named, "agent" | "agentVersion">): string =>
  JSON.stringify([agent, agentVersion])

/** Versions whose numbers are remembered. They never change, and no version is ever taken away. */
const remembered = 10_000

export const make = (sql: SqlClient.SqlClient) => {
  const known = new Map<string, Numbers>()

  const knownOf = (project_id: number, named: Pick<Named, "agent" | "agentVersion">): Numbers | undefined =>
    known.get(`${project_id} ${keyOf(named)}`)

  /** By both names, each of them in an index; so it also finds names that stand together with others than wanted. */
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

  /** The numbers of those that there are. At the start of a transaction, so that none of them can be taken back. */
  const look = Effect.fnUntraced(function* (project_id: number, events: ReadonlyArray<Named>) {
    const found = new Map<string, Numbers>()
    const unknown: Array<Named> = []
    for (const each of events) {
      const numbers = knownOf(project_id, each)
      if (numbers === undefined) unknown.push(each)
      else found.set(keyOf(each), numbers)
    }
    if (unknown.length === 0) return found
    for (const { agent, agent_number, agent_version_number, version } of yield* select(project_id, unknown)) {
      const key = keyOf({ agent, agentVersion: version })
      const numbers = { agent_number, agent_version_number }
      found.set(key, numbers)
      if (known.size >= remembered) known.clear()
      known.set(`${project_id} ${key}`, numbers)
    }
    return found
  })

  /**
   * Takes what `look` has found, in a transaction. What is missing is created in two steps: its agents here and their
   * versions with `numbers`, which comes after all that takes a lock on the project's row.
   */
  const begin = Effect.fnUntraced(function* (
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

  const numbers = Effect.fnUntraced(function* ({
    agents,
    found,
    missing,
    project_id
  }: Effect.Success<ReturnType<typeof begin>>) {
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

  return { known: knownOf, look, begin, numbers }
}

export type AgentVersions = ReturnType<typeof make>

const distinct = <Key extends "agent" | "agentVersion">(named: ReadonlyArray<Named>, key: Key) =>
  Array.from(new Set(named.map((each) => each[key])))

const times = ({ receivedAt }: Named) => ({ created_at: receivedAt.epochMilliseconds })
