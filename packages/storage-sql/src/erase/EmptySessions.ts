/** Deletes sessions without events. Their packs are not read, so that it does not matter what they contain. */
import type { ProjectId } from "@tachograph/core"
import * as Effect from "effect/Effect"
import type { SqlClient, SqlError } from "effect/sql"
import * as Bucket from "../dialect/Bucket.ts"
import * as Locks from "../dialect/Locks.ts"
import * as TwoPhaseCommit from "../dialect/TwoPhaseCommit.ts"
import type * as Projects from "../names/Projects.ts"
import type { Integer } from "../sql/RowDecoding.ts"
import type * as IndexRepair from "../sql/IndexRepair.ts"
import * as SpaceCounters from "../space/SpaceCounters.ts"
import * as SweepEnd from "./SweepEnd.ts"

/** Every transaction that deletes something runs `requestScrub`. */
export const make = (
  sql: SqlClient.SqlClient,
  projects: Projects.Projects,
  requestScrub: Effect.Effect<void, SqlError.SqlError>,
  { repairing: repairingIn }: IndexRepair.Repairs
) => {
  const finish = SweepEnd.make(sql, projects)
  const repairing = repairingIn(["sessions", "steps", "packs", "shared_pieces", "shared_piece_owners"])

  const deleteIn = Effect.fnUntraced(function* (project_id: number, session: number, limit: number) {
    const isOfSession = Bucket.isOfSession(sql, project_id, session)
    const [row] = yield* sql<{ pending_sweep: Integer; pieces: Integer }>`
      SELECT pending_sweep, history + parts - erased_pieces AS pieces FROM sessions
      WHERE ${isOfSession} ${Locks.update(sql)}`
    if (row === undefined) return undefined
    if ((yield* sql`SELECT 1 FROM events WHERE ${isOfSession} LIMIT 1`).length > 0) return undefined
    const steps = yield* sql`DELETE FROM steps WHERE ${isOfSession} AND trace_id IN (
        SELECT trace_id FROM steps WHERE ${isOfSession} ORDER BY trace_id LIMIT ${limit}) RETURNING 1 AS deleted`
    if (steps.length >= limit) return { pieces: 0, bytes: 0, session: false }
    const deleted = yield* sql<{ size: Integer }>`DELETE FROM packs WHERE ${isOfSession} AND pack_number IN (
        SELECT pack_number FROM packs WHERE ${isOfSession} ORDER BY pack_number LIMIT ${limit})
      RETURNING octet_length(pack) AS size`
    const bytes = deleted.reduce((sum, { size }) => sum + Number(size), 0)
    // The usage counters of the session are deleted with it.
    if (deleted.length === limit) {
      yield* sql`UPDATE sessions SET generation = generation + 1 WHERE ${isOfSession}`
      return { pieces: 0, bytes, session: false }
    }
    const done = { owned: [], pendingSweep: Number(row.pending_sweep), remaining: 0 }
    const erased = yield* finish(project_id, session, done, new SpaceCounters.Increments(sql))
    return { ...erased, pieces: Number(row.pieces) + erased.pieces, bytes: bytes + erased.bytes }
  })

  const deleteEmptySession = Effect.fn("SqlStorage.deleteEmptySession")(function* (
    project: ProjectId,
    session: number,
    limit: number
  ) {
    const number = yield* projects.find(project)
    return yield* repairing(
      TwoPhaseCommit.transaction(
        sql,
        Effect.tap(deleteIn(number, session, limit), (erased) => (erased === undefined ? Effect.void : requestScrub))
      )
    )
  })

  return { deleteEmptySession }
}
