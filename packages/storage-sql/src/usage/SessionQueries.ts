/** Sessions, with what their calls add up to. */
import { type EventId, type ProjectId, type SessionId, type SessionQuery, type SessionRanking } from "@tachograph/core"
import * as Effect from "effect/Effect"
import type { SqlClient, SqlError } from "effect/sql"
import * as Bucket from "../dialect/Bucket.ts"
import type * as Projects from "../names/Projects.ts"
import type { Integer } from "../sql/RowDecoding.ts"
import * as Names from "./Names.ts"
import * as RollupPosition from "../rollup/RollupPosition.ts"
import * as SessionList from "./SessionList.ts"
import * as SessionRows from "./SessionRows.ts"
import * as SessionSummaries from "./SessionSummaries.ts"
import * as SortedSessions from "./SortedSessions.ts"

export const make = (
  sql: SqlClient.SqlClient,
  projects: Projects.Projects,
  watermark: (project: ProjectId) => Effect.Effect<EventId, SqlError.SqlError>
) => {
  const stored = SessionRows.make(sql)
  const { toSummaries } = SessionSummaries.make(sql)
  const list = SessionList.make(sql)
  const sorted = SortedSessions.make(sql)
  const names = Names.make(sql)
  const positions = RollupPosition.make(sql)

  const listSessions = Effect.fn("SqlStorage.listSessions")(function* (project: ProjectId, query: SessionQuery) {
    const number = yield* projects.find(project)
    const place = query.after ?? (yield* list.begin(number, yield* watermark(project)))
    if (place === undefined) return { rows: [], next: undefined }
    const readBacklog = list.backlogs()
    return yield* positions.unchanged(number, (position) =>
      Effect.flatMap(list.read(number, query, place, position, readBacklog), ({ next, sessions }) =>
        Effect.map(toSummaries(number, sessions), (rows) => ({ rows, next }))
      )
    )
  })

  const rankSessions = Effect.fn("SqlStorage.rankSessions")(function* (project: ProjectId, query: SessionRanking) {
    const number = yield* projects.find(project)
    const filter = yield* names.filterOf(number, query)
    return yield* positions.unchanged(
      number,
      Effect.fnUntraced(function* (position) {
        const { next, rows } = yield* sorted.read(number, position, query, filter)
        const numbers = rows.map((rank) => rank.number)
        const { parts } = yield* stored.partsOf(number, numbers, position, undefined)
        const sessions = numbers.map((each) => [each, Array.from(parts.get(each)?.values() ?? [])] as const)
        return {
          rows: yield* toSummaries(
            number,
            sessions.filter(([, own]) => own.length > 0)
          ),
          next
        }
      })
    )
  })

  const summaryIn = Effect.fnUntraced(function* (
    project_id: number,
    session: number,
    position: RollupPosition.RollupPosition
  ) {
    const { parts: found } = yield* stored.partsOf(project_id, [session], position, undefined)
    const parts = found.get(session)
    if (parts === undefined) return undefined
    const [summary] = yield* toSummaries(project_id, [[session, Array.from(parts.values())]])
    return summary
  })

  const sessionSummary = Effect.fn("SqlStorage.sessionSummary")(function* (project: ProjectId, session: SessionId) {
    const number = yield* projects.find(project)
    const [row] = yield* sql<{ session_number: Integer }>`SELECT session_number FROM sessions
      WHERE project_id = ${number} AND session_id = ${session}${Bucket.and(sql, Bucket.ofSession(session))}`
    if (row === undefined) return undefined
    return yield* positions.unchanged(number, (position) => summaryIn(number, Number(row.session_number), position))
  })

  return { listSessions, rankSessions, sessionSummary }
}
