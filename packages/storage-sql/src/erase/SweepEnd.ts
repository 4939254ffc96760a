/** The end of a sweep: what the session does not own any more is deleted, and the session with it, if it has no events. */
import type { SweepChanges } from "@tachograph/core"
import * as Effect from "effect/Effect"
import type { SqlClient } from "effect/sql"
import * as Bucket from "../dialect/Bucket.ts"
import type * as Projects from "../names/Projects.ts"
import * as SpaceCounters from "../space/SpaceCounters.ts"
import * as DisownedPieces from "./DisownedPieces.ts"

export const make = (sql: SqlClient.SqlClient, projects: Projects.Projects) => {
  const space = SpaceCounters.make(sql, projects)

  return Effect.fnUntraced(function* (
    project_id: number,
    session: number,
    { owned, pendingSweep, remaining }: NonNullable<SweepChanges<unknown>["done"]>,
    increments: SpaceCounters.Increments
  ) {
    const isOfSession = Bucket.isOfSession(sql, project_id, session)
    const deleted = yield* DisownedPieces.disown(sql, project_id, session, owned)
    const [events, steps] = [
      yield* sql`SELECT 1 FROM events WHERE ${isOfSession} LIMIT 1`,
      yield* sql`SELECT 1 FROM steps WHERE ${isOfSession} LIMIT 1`
    ]
    // Keeps the count, negated, so that a later erasure counts on from it: a sweep that began before this one must not take
    // that erasure for the one it has swept.
    const swept = yield* sql`UPDATE sessions SET pending_sweep = -abs(pending_sweep),
        erased_pieces = history + parts - ${remaining}
      WHERE ${isOfSession} AND pending_sweep = ${pendingSweep} RETURNING session_number`
    const isEmpty = swept.length > 0 && events.length + steps.length === 0
    if (isEmpty) yield* sql`DELETE FROM sessions WHERE ${isOfSession}`
    // What a session has counted before this step includes what the step takes away.
    const counted = isEmpty ? yield* space.remove(project_id, session, Bucket.ofNumber(session)) : increments
    for (const { bucket, bytes, size } of deleted) {
      counted.add(SpaceCounters.ofPieces(sql, bucket), { entries: -1, new_bytes: -size, stored_bytes: -bytes })
    }
    yield* space.add(project_id, counted)
    const bytes = deleted.reduce((sum, each) => sum + each.bytes, 0)
    return { pieces: deleted.length, bytes, session: isEmpty }
  })
}
