/** The numbers of agents and of their versions, for events that name both. */
import type { EventSummary } from "@tachograph/core"
import { Effect } from "effect"
import type { SqlClient } from "effect/sql"
import * as ManyRows from "./ManyRows.ts"
import * as NumberedNames from "./NumberedNames.ts"

type Named = Pick<EventSummary, "agent" | "agentVersion" | "receivedAt">

interface Numbers {
  readonly agent_number: number
  readonly agent_version_number: number
}

const keyOf = ({ agent, agentVersion }: Pick<Named, "agent" | "agentVersion">): string =>
  JSON.stringify([agent, agentVersion])

export const make = (sql: SqlClient.SqlClient) => {
  /** Also finds names that stand together with others than wanted: by both names, each of them in an index. */
  const look = (project_id: number, named: ReadonlyArray<Named>) =>
    sql<{
      agent: Named["agent"]
      version: Named["agentVersion"]
      agent_number: number
      agent_version_number: number
    }>`SELECT a.agent_name AS agent, v.agent_version_name AS version, a.agent_number, v.agent_version_number
      FROM agents a JOIN agent_versions v ON v.project_id = a.project_id AND v.agent_number = a.agent_number
      WHERE a.project_id = ${project_id} AND ${ManyRows.isAmong(sql, "a.agent_name", "varchar", distinct(named, "agent"))}
        AND ${ManyRows.isAmong(sql, "v.agent_version_name", "varchar", distinct(named, "agentVersion"))}`

  /**
   * Takes what `look` has found, in a transaction. What is missing is created in two steps: its agents here and their
   * versions with `numbers`, which comes after all that takes a lock on the project's row.
   */
  const begin = Effect.fnUntraced(function* (
    project_id: number,
    events: ReadonlyArray<Named>,
    rows: Effect.Success<ReturnType<typeof look>>
  ) {
    const missing = new Map(events.map((each) => [keyOf(each), each]))
    const found = new Map<string, Numbers>()
    for (const row of rows) {
      const key = keyOf({ agent: row.agent, agentVersion: row.version })
      found.set(key, { agent_number: row.agent_number, agent_version_number: row.agent_version_number })
      missing.delete(key)
    }
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

  return { look, begin, numbers }
}

const distinct = <Key extends "agent" | "agentVersion">(named: ReadonlyArray<Named>, key: Key) =>
  Array.from(new Set(named.map((each) => each[key])))

const times = ({ receivedAt }: Named) => ({ created_at: receivedAt.epochMilliseconds })
