/** Groups of events: by which keys they are grouped, and as answers say them. */
import {
  type Dimension,
  type GroupKey,
  type GroupPage,
  GroupValues,
  type LocalTime,
  type SessionGroups,
  type UsagePage
} from "@tachograph/core"
import * as Effect from "effect/Effect"
import type { SqlClient, SqlError } from "effect/sql"
import * as Names from "./Names.ts"
import type * as SessionCosts from "./SessionCosts.ts"
import type * as UsageRows from "./UsageRows.ts"

/** The keys of the group that a row is in. */
export const keyerOf = (
  groupBy: ReadonlyArray<Dimension>,
  time: LocalTime,
  versions: ReadonlyMap<string, string> | undefined
): SessionCosts.KeysOf => {
  const keyOf = (row: UsageRows.UsageRow, dimension: Dimension): GroupKey => {
    switch (dimension) {
      case "hour":
        return time.hourOf(row.atMs)
      case "day":
        return time.dayOf(row.atMs)
      case "agent_version":
        return versions!.get(Names.versionKey(row.agent, row.agentVersion)) ?? null
      case "model":
        return row.model || null
      case "person":
        return row.person || null
      default:
        return row[dimension]
    }
  }
  return (row) => groupBy.map((dimension) => keyOf(row, dimension))
}

export const make = (sql: SqlClient.SqlClient) => {
  const names = Names.make(sql)

  const toPage = Effect.fnUntraced(function* (
    { project_id, query: { groupBy }, time }: UsageRows.Asked,
    sessions: Pick<SessionGroups, "get"> | undefined,
    { groups, next }: GroupPage
  ): Effect.fn.Return<UsagePage, SqlError.SqlError> {
    const numbersOf = (dimension: Dimension) => {
      const index = groupBy.indexOf(dimension)
      return index === -1 ? [] : groups.map(({ keys }) => keys[index]).filter((key) => typeof key === "number")
    }
    const namesOf = new Map<Dimension, ReadonlyMap<number, string>>([
      ["agent", yield* names.agents(project_id, numbersOf("agent"))],
      ["person", yield* names.people(project_id, numbersOf("person"))],
      ["session", yield* names.sessions(project_id, numbersOf("session"))]
    ])
    const nameOf = (dimension: Dimension, key: number) => namesOf.get(dimension)?.get(key) ?? null
    return {
      groups: groups.map(({ keys, tally }) => GroupValues.of(groupBy, keys, tally, sessions?.get(keys), time, nameOf)),
      next
    }
  })

  return { toPage }
}
