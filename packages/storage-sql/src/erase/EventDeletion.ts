/** Deletes events of some shards, with what is counted of them, and marks what only they may have held. */
import * as Effect from "effect/Effect"
import type { SqlClient } from "effect/sql"
import * as Bucket from "../dialect/Bucket.ts"
import * as BulkValues from "../dialect/BulkValues.ts"
import * as CommitOrder from "../dialect/CommitOrder.ts"
import * as Dialects from "../dialect/Dialects.ts"
import * as Locks from "../dialect/Locks.ts"
import type * as UuidColumn from "../dialect/UuidColumn.ts"
import * as EventKinds from "../names/EventKinds.ts"
import type * as Projects from "../names/Projects.ts"
import * as CountedEvent from "../rollup/CountedEvent.ts"
import type * as Derivation from "../rollup/Derivation.ts"
import type { Integer } from "../sql/RowDecoding.ts"
import * as SpaceCounters from "../space/SpaceCounters.ts"

const packTypes = { session_number: "integer", pack_number: "integer" } as const satisfies BulkValues.Types

/** An event to erase. */
export interface Candidate {
  readonly event_id: UuidColumn.StoredId
  readonly session_number: Integer
  /** Only in a distributed database. */
  readonly bucket?: number
}

export const make = (sql: SqlClient.SqlClient, projects: Projects.Projects, derivation: Derivation.Derivation) => {
  const space = SpaceCounters.make(sql, projects)
  const kinds = EventKinds.make(sql)
  const packColumns = BulkValues.make(sql, BulkValues.named(packTypes))

  /** Returns how many events it has erased. */
  const eraseInBuckets = Effect.fnUntraced(function* (
    project_id: number,
    buckets: ReadonlyArray<number>,
    candidates: ReadonlyArray<Candidate>,
    unmarked: Set<number> | undefined
  ) {
    const ofBuckets = Bucket.and(sql, buckets)
    const ids = candidates.map(({ event_id }) => event_id)
    const position = yield* derivation.lock(project_id)
    const sessions = Array.from(new Set(candidates.map(({ session_number }) => Number(session_number))))
    const isOfSessions = sql`project_id = ${project_id} AND ${sql.in("session_number", sessions)}${ofBuckets}`
    if (!Dialects.of(sql).isSerial) {
      yield* sql`SELECT session_number FROM sessions WHERE ${isOfSessions} ORDER BY session_number ${Locks.update(sql)}`
    }
    if (unmarked === undefined) {
      yield* sql`UPDATE sessions SET pending_sweep = abs(pending_sweep) + 1 WHERE ${isOfSessions}`
    } else for (const session of sessions) unmarked.add(session)

    const erased = yield* sql<
      CountedEvent.Row & { session_number: number; agent_number: number; pack_number: number; sent_bytes: Integer }
    >`DELETE FROM events
      WHERE project_id = ${project_id} AND ${sql.in("event_id", ids)}${ofBuckets}
      RETURNING ${CountedEvent.selected(sql)}, pack_number, inputs_bytes + output_bytes AS sent_bytes`
    yield* CommitOrder.keepErased(sql, project_id, ids)
    const increments = new SpaceCounters.Increments(sql)
    const rules = yield* kinds.rulesOf(
      project_id,
      erased.map(({ kind_number }) => Number(kind_number))
    )
    for (const { agent_number, kind_number, sent_bytes, session_number } of erased) {
      const bucket = Bucket.ofNumber(session_number)
      increments.add(
        { session_number, agent_number, bucket, rules: rules.get(Number(kind_number)) ?? "" },
        { entries: -1, sent_bytes: -Number(sent_bytes) }
      )
    }
    for (const rows of BulkValues.chunks(erased)) {
      yield* sql`WITH erased ${packColumns.names} AS (${packColumns.of(rows)})
        UPDATE packs SET kept = 0 FROM erased WHERE packs.project_id = ${project_id}
          AND packs.session_number = erased.session_number AND packs.pack_number = erased.pack_number
          ${Bucket.and(sql, buckets, "packs.")}`
    }
    yield* space.add(project_id, increments)
    yield* derivation.afterErasure(project_id, position, yield* derivation.toCounted(project_id, erased))
    return erased.length
  })

  return eraseInBuckets
}
