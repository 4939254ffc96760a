/**
 * In a distributed database all nodes hold all agents, versions and kinds of events. One that is new reaches a node late if the node
 * stopped while it was committed (`dialect/TwoPhaseCommit.ts`); until then, events with it could not be read there. `PeopleInUse` looks
 * for people.
 */
import * as Effect from "effect/Effect"
import { type SqlClient, SqlError } from "effect/sql"
import * as SqlFailure from "../SqlFailure.ts"
import * as Bucket from "../dialect/Bucket.ts"
import * as BulkValues from "../dialect/BulkValues.ts"
import type * as AgentVersionNumbers from "./AgentVersionNumbers.ts"

/** What an event to append refers to. */
interface Use extends AgentVersionNumbers.Numbers {
  readonly session_number: number
  /** The lane of the session: its events are on one node. */
  readonly lane: number
  /** Steps have none. */
  readonly kind_number: number | null
  /** Whether its agent and version were committed before this transaction. */
  readonly isCommitted: boolean
}

const wantedTypes = {
  agent_number: "integer",
  agent_version_number: "integer",
  kind_number: "integer"
} as const satisfies BulkValues.Types

/** How many of those that were found are known; then they are looked for again. */
const maxFound = 100_000

/** A new one for each failure, with the place where it is found. */
const missing = Effect.suspend(() =>
  Effect.fail(
    SqlFailure.make(
      SqlError.ConnectionError,
      "append",
      "A node does not have an agent, a version or a kind of events yet"
    )
  )
)

export const make = (sql: SqlClient.SqlClient) => {
  // What was committed stays.
  const found = new Set<string>()
  const columns = BulkValues.make(sql, BulkValues.named(wantedTypes))

  /** How many of these, which are of one lane, its node has. */
  const count = (project_id: number, uses: ReadonlyArray<Use>) => {
    const { session_number } = uses[0]!
    // A row of the node makes it the one that is asked.
    return Effect.map(
      sql<{ count: number | string }>`WITH wanted ${columns.names} AS (${columns.of(uses)})
        SELECT count(*) AS count FROM sessions s CROSS JOIN wanted
        JOIN agents a ON a.project_id = s.project_id AND a.agent_number = wanted.agent_number
        JOIN agent_versions v ON v.project_id = s.project_id AND v.agent_number = wanted.agent_number
          AND v.agent_version_number = wanted.agent_version_number
        LEFT JOIN event_kinds k ON k.project_id = s.project_id AND k.kind_number = wanted.kind_number
        WHERE s.project_id = ${project_id} AND s.session_number = ${session_number}
          AND (wanted.kind_number IS NULL OR k.kind_number IS NOT NULL)${Bucket.and(sql, Bucket.ofNumber(session_number), "s.")}`,
      ([row]) => Number(row!.count)
    )
  }

  /** Call it in a transaction that has locked the sessions. Fails, as if the database were unreachable, if a node lacks something. */
  const check = Effect.fnUntraced(function* (project_id: number, uses: ReadonlyArray<Use>) {
    const wanted = new Map<string, Use>()
    for (const use of uses) {
      const key = [project_id, use.lane, use.agent_number, use.agent_version_number, use.kind_number].join(" ")
      if (!found.has(key)) wanted.set(key, use)
    }
    for (const ofLane of Map.groupBy(wanted.values(), ({ lane }) => lane).values()) {
      for (const chunk of BulkValues.chunks(ofLane)) {
        if ((yield* count(project_id, chunk)) === chunk.length) continue
        return yield* missing
      }
    }
    if (found.size + wanted.size > maxFound) found.clear()
    for (const [key, { isCommitted }] of wanted) if (isCommitted) found.add(key)
  })

  /** The same for the kinds that events of a session shall have. */
  const checkKinds = Effect.fnUntraced(function* (project_id: number, session: number, kinds: ReadonlyArray<number>) {
    if (!Bucket.isDistributed(sql)) return
    const wanted = Array.from(new Set(kinds))
    const [row] = yield* sql<{ count: number | string }>`SELECT count(*) AS count FROM sessions s
      JOIN event_kinds k ON k.project_id = s.project_id AND ${BulkValues.isAmong(sql, "k.kind_number", "integer", wanted)}
      WHERE s.project_id = ${project_id} AND s.session_number = ${session}${Bucket.and(sql, Bucket.ofNumber(session), "s.")}`
    if (Number(row!.count) < wanted.length) return yield* missing
  })

  return { check, checkKinds }
}
