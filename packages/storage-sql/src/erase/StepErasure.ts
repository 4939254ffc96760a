/** Deletes steps, a group at a time. Their texts are deleted later, by sweeping their sessions. */
import { type ErasableSteps, EventTime, type ProjectId } from "@tachograph/core"
import * as Effect from "effect/Effect"
import type { SqlClient, SqlError, Statement } from "effect/sql"
import * as Bucket from "../dialect/Bucket.ts"
import * as Dialects from "../dialect/Dialects.ts"
import * as Locks from "../dialect/Locks.ts"
import * as TwoPhaseCommit from "../dialect/TwoPhaseCommit.ts"
import * as NumberedNames from "../names/NumberedNames.ts"
import type * as Projects from "../names/Projects.ts"
import type * as IndexRepair from "../sql/IndexRepair.ts"
import type { Integer } from "../sql/RowDecoding.ts"

/** The steps of a pack were received at one time. */
interface Group {
  readonly received_at: Integer
  readonly session_number: Integer
  readonly pack_number: Integer
}

/** Every transaction that deletes something runs `requestScrub`. */
export const make = (
  sql: SqlClient.SqlClient,
  projects: Projects.Projects,
  requestScrub: Effect.Effect<void, SqlError.SqlError>,
  { repairing: repairingIn }: IndexRepair.Repairs
) => {
  const repairing = repairingIn(["steps", "sessions", "packs"])

  const indexed = (index: string) => sql.literal(Dialects.of(sql).useIndex(index))

  /** What selects them; undefined if there are none. */
  const rowsOf = Effect.fnUntraced(function* (
    project_id: number,
    which: ErasableSteps
  ): Effect.fn.Return<Statement.Fragment | undefined, SqlError.SqlError> {
    if ("before" in which) {
      return sql`${indexed("steps_by_receipt")} WHERE project_id = ${project_id}
        AND received_at < ${EventTime.of(which.before)} ORDER BY received_at, session_number, pack_number`
    }
    if ("person" in which) {
      const numbers = yield* NumberedNames.find(sql, NumberedNames.people, project_id, [which.person])
      const number = numbers.get(which.person)
      if (number === undefined) return undefined
      return sql`${indexed("steps_by_person")} WHERE project_id = ${project_id} AND person_number = ${number}`
    }
    const [row] = yield* sql<{ session_number: Integer }>`SELECT session_number FROM sessions
      WHERE project_id = ${project_id} AND session_id = ${which.session}${Bucket.and(sql, Bucket.ofSession(which.session))}`
    if (row === undefined) return undefined
    return sql`${indexed("steps_by_start")} WHERE ${Bucket.isOfSession(sql, project_id, Number(row.session_number))}`
  })

  const eraseIn = Effect.fnUntraced(function* (project_id: number, which: ErasableSteps, limit: number) {
    const rows = yield* rowsOf(project_id, which)
    if (rows === undefined) return 0
    const groups = yield* sql<Group>`SELECT DISTINCT received_at, session_number, pack_number FROM steps ${rows}
      LIMIT ${limit}`
    const sessions = Array.from(new Set(groups.map(({ session_number }) => Number(session_number))))
    for (const { buckets, rows } of Bucket.split(sql, sessions, Bucket.ofNumber)) {
      const isOfSessions = sql`project_id = ${project_id} AND ${sql.in("session_number", rows)}${Bucket.and(sql, buckets)}`
      if (!Dialects.of(sql).isSerial) {
        yield* sql`SELECT session_number FROM sessions WHERE ${isOfSessions} ORDER BY session_number ${Locks.update(sql)}`
      }
      yield* sql`UPDATE sessions SET pending_sweep = abs(pending_sweep) + 1 WHERE ${isOfSessions}`
    }
    for (const { pack_number, received_at, session_number } of groups) {
      const isOfPack = sql`${Bucket.isOfSession(sql, project_id, Number(session_number))} AND pack_number = ${pack_number}`
      yield* sql`DELETE FROM steps ${indexed("steps_by_receipt")} WHERE ${isOfPack} AND received_at = ${received_at}`
      yield* sql`UPDATE packs SET kept = 0 WHERE ${isOfPack}`
    }
    if (groups.length > 0) yield* requestScrub
    return groups.length
  })

  const eraseSteps = Effect.fn("SqlStorage.eraseSteps")(function* (
    project: ProjectId,
    which: ErasableSteps,
    limit: number
  ) {
    const number = yield* projects.find(project)
    return yield* repairing(
      TwoPhaseCommit.transaction(
        sql,
        Effect.tap(eraseIn(number, which, limit), () => TwoPhaseCommit.refuseInDoubt(sql))
      )
    )
  })

  return { eraseSteps }
}
