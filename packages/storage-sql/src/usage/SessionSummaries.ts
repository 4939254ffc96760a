/** Makes summaries of the parts of sessions: with their names, and the bytes of their payloads. */
import { SessionParts, type StoredSession } from "@tachograph/core"
import * as DateTime from "effect/DateTime"
import * as Effect from "effect/Effect"
import type { SqlClient, SqlError } from "effect/sql"
import * as Bucket from "../dialect/Bucket.ts"
import * as BulkValues from "../dialect/BulkValues.ts"
import type { Integer } from "../sql/RowDecoding.ts"
import * as Names from "./Names.ts"

/** Only damage makes it less than none. */
const sizeOf = (bytes: Integer): number => Math.max(0, Math.min(Number(bytes), Number.MAX_SAFE_INTEGER))

export const make = (sql: SqlClient.SqlClient) => {
  const names = Names.make(sql)

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

  return { toSummaries }
}
