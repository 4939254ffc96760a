/** Sessions, with what their calls add up to. */
import {
  type EventId,
  type ProjectId,
  type SessionId,
  SessionParts,
  type SessionQuery,
  type StoredSession
} from "@tachograph/core"
import * as DateTime from "effect/DateTime"
import * as Effect from "effect/Effect"
import type { SqlClient, SqlError } from "effect/sql"
import * as Bucket from "../dialect/Bucket.ts"
import * as BulkValues from "../dialect/BulkValues.ts"
import type * as Projects from "../names/Projects.ts"
import type { Integer } from "../sql/RowDecoding.ts"
import * as Names from "./Names.ts"
import * as RollupPosition from "../rollup/RollupPosition.ts"
import * as SessionList from "./SessionList.ts"
import * as SessionRows from "./SessionRows.ts"

export const make = (
  sql: SqlClient.SqlClient,
  projects: Projects.Projects,
  watermark: (project: ProjectId) => Effect.Effect<EventId, SqlError.SqlError>
) => {
  const stored = SessionRows.make(sql)
  const list = SessionList.make(sql)
  const names = Names.make(sql)
  const positions = RollupPosition.make(sql)

  const readSizes = Effect.fnUntraced(function* (project_id: number, sessions: ReadonlyArray<number>) {
    const sizes = new Map<number, { readonly sentBytes: number; readonly newBytes: number }>()
    for (const chunk of BulkValues.chunks(sessions)) {
      const rows = yield* sql<{ session_number: Integer; sent: Integer; added: Integer }>`
        SELECT session_number, sum(sent_bytes) AS sent, sum(new_bytes) AS added FROM storage_usage
        WHERE project_id = ${project_id} AND ${BulkValues.isAmong(sql, "session_number", "integer", chunk)}
          ${Bucket.and(sql, chunk.map(Bucket.ofNumber))} GROUP BY session_number`
      for (const { added, sent, session_number } of rows) {
        sizes.set(Number(session_number), { sentBytes: sizeOf(sent), newBytes: sizeOf(added) })
      }
    }
    return sizes
  })

  const toSummaries = Effect.fnUntraced(function* (
    project_id: number,
    sessions: ReadonlyArray<readonly [number, ReadonlyArray<SessionParts.SessionPart>]>
  ): Effect.fn.Return<ReadonlyArray<StoredSession>, SqlError.SqlError> {
    if (sessions.length === 0) return []
    const summaries = sessions.map(([session, parts]) => [session, SessionParts.summaryOf(parts)] as const)
    const numbers = sessions.map(([session]) => session)
    const ids = yield* names.sessions(project_id, numbers)
    const agents = summaries.flatMap(([, summary]) => summary.agents)
    const agentNames = yield* names.agents(project_id, agents)
    const versionNames = yield* names.agentVersions(project_id, agents)
    const personIds = yield* names.people(
      project_id,
      summaries.flatMap(([, summary]) => summary.people)
    )
    const sizes = yield* readSizes(project_id, numbers)
    return summaries.flatMap(([number, { agentVersions, agents, first, firstMs, lastMs, models, people, sums }]) => {
      const session = ids.get(number)
      // It was erased meanwhile.
      if (session === undefined) return []
      const versions = agentVersions.map(({ agent, agentVersion }) => Names.versionKey(agent, agentVersion))
      return {
        session,
        firstEvent: first,
        firstEventAt: DateTime.makeUnsafe(firstMs),
        lastEventAt: DateTime.makeUnsafe(lastMs),
        ...sums,
        agents: agents.flatMap((agent) => agentNames.get(agent) ?? []),
        agentVersions: Array.from(new Set(versions.flatMap((version) => versionNames.get(version) ?? []))),
        people: people.flatMap((person) => personIds.get(person) ?? []),
        models,
        ...(sizes.get(number) ?? { sentBytes: 0, newBytes: 0 })
      }
    })
  })

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

  return { listSessions, sessionSummary }
}

/** Only damage makes it less than none. */
const sizeOf = (bytes: Integer): number => Math.max(0, Math.min(Number(bytes), Number.MAX_SAFE_INTEGER))
