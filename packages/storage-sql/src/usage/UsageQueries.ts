/** Adds events up in groups. */
import {
  type Dimension,
  type GroupKey,
  GroupValues,
  LocalTime,
  type ProjectId,
  UsageGroups,
  type UsagePage,
  type UsageQuery
} from "@tachograph/core"
import * as Effect from "effect/Effect"
import type { SqlClient, SqlError } from "effect/sql"
import type * as Projects from "../names/Projects.ts"
import type * as CountedEvent from "../rollup/CountedEvent.ts"
import * as Names from "./Names.ts"
import * as SessionUsage from "./SessionUsage.ts"
import * as UsageRows from "./UsageRows.ts"

export const make = (sql: SqlClient.SqlClient, projects: Projects.Projects) => {
  const names = Names.make(sql)
  const ofSessions = SessionUsage.make(sql)
  const ofTimes = UsageRows.make(sql)

  const toPage = Effect.fnUntraced(function* (
    project_id: number,
    { groupBy }: UsageQuery,
    time: LocalTime,
    { groups, next }: UsageGroups["page"]
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
    return { groups: groups.map(({ keys, tally }) => GroupValues.of(groupBy, keys, tally, time, nameOf)), next }
  })

  const sumUsage = Effect.fn("SqlStorage.sumUsage")(function* (project: ProjectId, query: UsageQuery) {
    const { after, groupBy, limit } = query
    const number = yield* projects.find(project)
    const filter = yield* names.filterOf(number, query)
    const versions = groupBy.includes("agent_version") ? yield* names.agentVersions(number) : undefined
    const time = new LocalTime(query.timeZone)
    const groups = new UsageGroups({ after, limit })

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
    const add: UsageRows.AddUsage = (row, addTo) => {
      const sums = groups.of(groupBy.map((dimension) => keyOf(row, dimension)))
      if (sums !== undefined) addTo(sums)
    }

    // Between all groups of this session or person and those of the next one.
    const pageAfter = (last: number | undefined) =>
      Effect.map(toPage(number, query, time, groups.page), (page) =>
        page.next !== undefined || last === undefined ? page : { ...page, next: [last + 0.5] }
      )
    // One of which a page has had groups may have more of them.
    const [key] = after ?? []
    const before = (first: number) => {
      if (typeof key !== "number") return first
      return Number.isInteger(key) ? key - 1 : Math.floor(key)
    }
    const isFull = () => groups.isFull

    if (groupBy[0] === "person" && query.person === undefined) {
      return yield* pageAfter(yield* ofTimes.addPeople(number, query, time, filter, before(-1), add, isFull))
    }
    if (groupBy[0] !== "session") {
      yield* ofTimes.addAll(number, query, time, filter, add)
      return yield* toPage(number, query, time, groups.page)
    }
    const isMatch = UsageRows.matcherOf(query, filter)
    const addEvent = (event: CountedEvent.CountedEvent) => {
      if (isMatch(event)) add(event, (sums) => sums.add(event))
    }
    return yield* pageAfter(yield* ofSessions.addAll(number, query, before(0), addEvent, isFull))
  })

  return { sumUsage }
}
