/** Whether the nodes of a distributed database have what is appended to their sessions. */
import * as Effect from "effect/Effect"
import type { SqlClient } from "effect/sql"
import * as Bucket from "../dialect/Bucket.ts"
import type * as AgentVersionNumbers from "../names/AgentVersionNumbers.ts"
import * as NodeCopies from "../names/NodeCopies.ts"
import * as PeopleInUse from "../names/PeopleInUse.ts"
import type * as EventNumbers from "./EventNumbers.ts"

export const make = (sql: SqlClient.SqlClient, agentVersions: AgentVersionNumbers.AgentVersions) => {
  const copies = NodeCopies.make(sql)

  /** In a transaction that has locked the sessions. Keeps their people from being deleted. `kinds` are those of the events, in order. */
  return Effect.fnUntraced(function* (
    project_id: number,
    summaries: ReadonlyArray<EventNumbers.Names>,
    { people, sessions, versions }: Pick<EventNumbers.Numbers, "people" | "sessions" | "versions">,
    kinds?: ReadonlyArray<number>
  ) {
    if (!Bucket.isDistributed(sql)) return
    const uses = summaries.flatMap(({ person, session }) =>
      person === null ? [] : [{ session: sessions.get(session)!, person: people.get(person)! }]
    )
    yield* PeopleInUse.lock(sql, project_id, uses)
    yield* copies.check(
      project_id,
      summaries.map((summary, n) => ({
        ...versions(summary),
        session_number: sessions.get(summary.session)!,
        lane: Bucket.laneOf(sql, summary.session),
        kind_number: kinds?.[n] ?? null,
        isCommitted: agentVersions.cached(project_id, summary) !== undefined
      }))
    )
  })
}
