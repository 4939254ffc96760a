/** What the sessions of groups of calls add up to. */
import { SessionFigures, SessionGroups, type GroupKey } from "@tachograph/core"
import * as Effect from "effect/Effect"
import type { SqlClient, SqlError } from "effect/sql"
import * as RollupPosition from "../rollup/RollupPosition.ts"
import * as AllSessions from "./AllSessions.ts"
import * as SessionUsage from "./SessionUsage.ts"
import * as UsageRows from "./UsageRows.ts"

/** Events that a read takes one by one, of sessions that have calls in several groups or beyond the time that is asked for, unless it sorts by them. */
const maxSplitEvents = 20_000

/** Groups by a time and by something else. */
const maxGroups = 100_000

export type KeysOf = (row: UsageRows.UsageRow) => ReadonlyArray<GroupKey>

type Part = SessionFigures.SessionFigures

const areSame = (a: ReadonlyArray<GroupKey>, b: ReadonlyArray<GroupKey>): boolean =>
  a.every((key, index) => key === b[index])

export const make = (sql: SqlClient.SqlClient) => {
  const sessions = AllSessions.make(sql)
  const positions = RollupPosition.make(sql)
  const { forEachIn } = SessionUsage.make(sql)

  /** Undefined if too many events would have to be read, or there are too many groups. */
  const read = Effect.fnUntraced(function* (
    { filter, people, project_id, query }: UsageRows.Asked,
    keysOf: KeysOf
  ): Effect.fn.Return<SessionGroups | undefined, SqlError.SqlError> {
    const { fromMs, toMs } = UsageRows.rangeOf(query)
    const isOfQuery = UsageRows.matcherOf(query, filter, people)
    const isOfTimes = query.groupBy.includes("day") || query.groupBy.includes("hour")
    const keysAt = (part: Part, atMs: number) => keysOf({ ...part, atMs })
    const isWhole = (part: Part) =>
      part.firstMs >= fromMs &&
      part.lastMs < toMs &&
      (!isOfTimes || areSame(keysAt(part, part.firstMs), keysAt(part, part.lastMs)))
    const { groups, split } = yield* positions.unchanged(project_id, (position) => {
      const groups = new SessionGroups()
      const split: Array<readonly [session: number, events: number]> = []
      const areTooMany = () => isOfTimes && groups.size > maxGroups
      const use = (session: number, parts: ReadonlyArray<Part>) => {
        if (areTooMany()) return
        const own = parts.filter((part) => isOfQuery(part) && part.lastMs >= fromMs && part.firstMs < toMs)
        if (own.every(isWhole)) {
          for (const part of own) groups.add(keysAt(part, part.firstMs), session, part, part.lastMs)
        } else split.push([session, own.reduce((sum, { events }) => sum + events, 0)])
      }
      return Effect.map(sessions.forEach(project_id, position, use), () => ({
        groups: areTooMany() ? undefined : groups,
        split
      }))
    })
    const splitEvents = split.reduce((sum, [, events]) => sum + events, 0)
    if (groups === undefined || (splitEvents > maxSplitEvents && query.sort === undefined)) return undefined
    yield* forEachIn(project_id, split, query, (event) => {
      if (isOfQuery(event)) groups.add(keysOf(event), event.session, SessionFigures.ofEvent(event), event.atMs)
    })
    return groups
  })

  return { read }
}
