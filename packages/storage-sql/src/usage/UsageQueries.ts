/** Adds events up in groups. */
import {
  type GroupKey,
  LocalTime,
  type ProjectId,
  SessionFigures,
  SessionGroups,
  UsageGroups,
  type UsagePage,
  type UsageQuery,
  UsageSort
} from "@tachograph/core"
import * as Effect from "effect/Effect"
import type { SqlClient, SqlError } from "effect/sql"
import type * as Projects from "../names/Projects.ts"
import type * as CountedEvent from "../rollup/CountedEvent.ts"
import * as Names from "./Names.ts"
import * as SessionCosts from "./SessionCosts.ts"
import * as SessionUsage from "./SessionUsage.ts"
import * as UsagePages from "./UsagePages.ts"
import * as UsageRows from "./UsageRows.ts"

type Keys = ReadonlyArray<GroupKey>

/** The first of a page's sessions or people: one of which the page before has had groups may have more of them. */
const firstAfter = (after: Keys | undefined, first: number): number => {
  const [key] = after ?? []
  if (typeof key !== "number") return first
  return Number.isInteger(key) ? key - 1 : Math.floor(key)
}

const adderOf =
  (keysOf: SessionCosts.KeysOf, groups: UsageGroups): UsageRows.AddUsage =>
  (row, addTo) => {
    const sums = groups.of(keysOf(row))
    if (sums !== undefined) addTo(sums)
  }

const isByPeople = ({ people, query }: UsageRows.Asked) =>
  query.groupBy[0] === "person" && query.person === undefined && people === undefined

/** Takes events of sessions, in the order of these, for the groups and for what the sessions add up to. */
const eventsTo = (
  { filter, people, query }: UsageRows.Asked,
  keysOf: SessionCosts.KeysOf,
  groups: UsageGroups,
  sessions: SessionGroups
) => {
  const isMatch = UsageRows.matcherOf(query, filter, people)
  return (event: CountedEvent.CountedEvent) => {
    if (!isMatch(event)) return
    const keys = keysOf(event)
    const sums = groups.of(keys)
    if (sums === undefined) return
    sums.add(event)
    sessions.add(keys, event.session, SessionFigures.ofEvent(event), event.atMs)
  }
}

export const make = (sql: SqlClient.SqlClient, projects: Projects.Projects) => {
  const names = Names.make(sql)
  const { toPage } = UsagePages.make(sql)
  const ofSessions = SessionUsage.make(sql)
  const ofTimes = UsageRows.make(sql)
  const costs = SessionCosts.make(sql)

  /** Adds all that is asked for, but for sessions, to groups. */
  const addTo = Effect.fnUntraced(function* (
    asked: UsageRows.Asked,
    keysOf: SessionCosts.KeysOf,
    groups: UsageGroups
  ): Effect.fn.Return<UsageGroups, SqlError.SqlError> {
    const add = adderOf(keysOf, groups)
    if (!isByPeople(asked)) yield* ofTimes.addAll(asked, add)
    else for (let last: number | undefined = -1; last !== undefined;) last = yield* ofTimes.addPeople(asked, last, add)
    return groups
  })

  /** A page in the order of the keys. */
  const inOrder = Effect.fnUntraced(function* (
    asked: UsageRows.Asked,
    keysOf: SessionCosts.KeysOf,
    sessions: SessionGroups | undefined
  ): Effect.fn.Return<UsagePage, SqlError.SqlError> {
    const { project_id, query } = asked
    const { after, groupBy } = query
    const groups = new UsageGroups(query)
    const isFull = () => groups.isFull
    // Between all groups of this session or person and those of the next one.
    const pageAfter = (sums: SessionGroups | undefined, last: number | undefined) =>
      Effect.map(toPage(asked, sums, groups.page), (page) =>
        page.next !== undefined || last === undefined ? page : { ...page, next: [last + 0.5] }
      )
    if (groupBy[0] === "session") {
      const ofPage = new SessionGroups()
      const use = eventsTo(asked, keysOf, groups, ofPage)
      return yield* pageAfter(ofPage, yield* ofSessions.addAll(project_id, query, firstAfter(after, 0), use, isFull))
    }
    if (!isByPeople(asked)) return yield* toPage(asked, sessions, (yield* addTo(asked, keysOf, groups)).page)
    const add = adderOf(keysOf, groups)
    return yield* pageAfter(sessions, yield* ofTimes.addPeople(asked, firstAfter(after, -1), add, isFull))
  })

  /** A page of groups that are sorted by what they add up to. None of them is a session. */
  const inSort = Effect.fnUntraced(function* (
    asked: UsageRows.Asked,
    keysOf: SessionCosts.KeysOf,
    sessions: SessionGroups | undefined,
    sort: NonNullable<UsageQuery["sort"]>
  ): Effect.fn.Return<UsagePage, SqlError.SqlError> {
    const { query } = asked
    const all = Number.MAX_SAFE_INTEGER
    const sorted =
      sort === "duration" || sessions === undefined
        ? UsageSort.ofTallies(yield* addTo(asked, keysOf, new UsageGroups({ limit: all })), sort)
        : UsageSort.ofSessions(sessions, sort)
    const { keys, next } = UsageSort.pageOf(sorted, query)
    const groups = new UsageGroups({ limit: all, only: keys })
    const place = query.groupBy.indexOf("person")
    const people = place === -1 ? asked.people : new Set(keys.map((each) => Number(each[place] ?? 0)))
    yield* addTo({ ...asked, people }, keysOf, groups)
    return { ...(yield* toPage(asked, sessions, groups.page)), next }
  })

  /** All groups together. */
  const totalOf = Effect.fnUntraced(function* (
    asked: UsageRows.Asked,
    sessions: SessionGroups | undefined
  ): Effect.fn.Return<UsagePage["total"], SqlError.SqlError> {
    const whole = { ...asked, query: { ...asked.query, groupBy: [] } }
    const { page } = yield* addTo(whole, () => [], new UsageGroups({ limit: 1 }))
    const all = sessions && { get: () => sessions.total }
    return (yield* toPage(whole, all, page)).groups[0]
  })

  const sumUsage = Effect.fn("SqlStorage.sumUsage")(function* (project: ProjectId, query: UsageQuery) {
    const { groupBy, hasTotal, sort } = query
    const project_id = yield* projects.find(project)
    const filter = yield* names.filterOf(project_id, query)
    const people = query.people && (yield* names.peopleNumbers(project_id, query.people))
    const versions = groupBy.includes("agent_version") ? yield* names.agentVersions(project_id) : undefined
    const time = new LocalTime(query.timeZone)
    const asked = { project_id, query, time, filter, people }
    const keysOf = UsagePages.keyerOf(groupBy, time, versions)
    // Before the calls, so that no group has more sessions than calls. Pages of sessions count their own.
    const isBySession = groupBy[0] === "session"
    const sessions =
      isBySession && hasTotal !== true ? undefined : yield* costs.read(asked, isBySession ? () => [] : keysOf)
    const page = yield* sort === undefined ? inOrder(asked, keysOf, sessions) : inSort(asked, keysOf, sessions, sort)
    return hasTotal === true ? { ...page, total: yield* totalOf(asked, sessions) } : page
  })

  return { sumUsage }
}
