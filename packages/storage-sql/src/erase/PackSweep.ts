/** Rewrites the packs of sessions from which events were erased, so that nothing remains that only those events held. */
import {
  type ErasedAtLast,
  lastWithinStep,
  type ProjectId,
  type SweepChanges,
  type SweepPacks,
  type SweepRequest
} from "@tachograph/core"
import * as Effect from "effect/Effect"
import type { SqlClient, SqlError, Statement } from "effect/sql"
import * as Bucket from "../dialect/Bucket.ts"
import * as Locks from "../dialect/Locks.ts"
import * as Dialects from "../dialect/Dialects.ts"
import * as TwoPhaseCommit from "../dialect/TwoPhaseCommit.ts"
import * as Projects from "../names/Projects.ts"
import { type Integer, type SessionRow, toSessionState } from "../sql/RowDecoding.ts"
import { isCorruption } from "../sql/SqlErrors.ts"
import * as SessionSizes from "../space/SessionSizes.ts"
import type * as IndexRepair from "../sql/IndexRepair.ts"
import * as SpaceCounters from "../space/SpaceCounters.ts"
import * as SweepEnd from "./SweepEnd.ts"
import * as SweptPacks from "./SweptPacks.ts"

/** Every transaction that rewrites something runs `requestScrub`. */
export const make = (
  sql: SqlClient.SqlClient,
  projects: Projects.Projects,
  requestScrub: Effect.Effect<void, SqlError.SqlError>,
  { repairing: repairingIn }: IndexRepair.Repairs
) => {
  const { namedPacks, readPacks, stepDown } = SweptPacks.make(sql)
  const finish = SweepEnd.make(sql, projects)
  const space = SpaceCounters.make(sql, projects)
  const sizes = SessionSizes.make(sql)
  const repairing = repairingIn(["sessions", "packs", "shared_pieces", "shared_piece_owners"])

  const listPendingSweep = Effect.fn("SqlStorage.listPendingSweep")(function* (project: ProjectId, limit: number) {
    const number = yield* projects.find(project)
    const list = (hint: Statement.Fragment) => sql<{
      session_number: Integer
    }>`SELECT session_number FROM sessions ${hint}
      WHERE project_id = ${number} AND pending_sweep > 0 ORDER BY session_number LIMIT ${limit}`
    // Reads all sessions of the project where their index is corrupt.
    const rows = yield* Effect.catchIf(list(sql.literal("")), isCorruption, () =>
      list(sql.literal(Dialects.of(sql).noIndex))
    )
    return rows.map(({ session_number }) => Number(session_number))
  })

  const sweepIn = Effect.fnUntraced(function* <A>(
    project_id: number,
    session: number,
    request: SweepRequest,
    rewrite: (packs: SweepPacks) => SweepChanges<A>
  ) {
    const isOfSession = Bucket.isOfSession(sql, project_id, session)
    const [row] = yield* sql<SessionRow & { pending_sweep: Integer }>`
      SELECT session_number, generation, packs, history, parts, pending_sweep FROM sessions
      WHERE ${isOfSession} ${Locks.update(sql)}`
    if (row === undefined) return undefined
    const { from, isLast } = yield* stepDown(project_id, session, request)
    const rows = yield* readPacks(project_id, session, from, request.to)
    const added = yield* readPacks(project_id, session, request.above + 1)
    const named = request.named ?? (yield* namedPacks(project_id, session))
    const ofRow = SweptPacks.toSweepPack(named)
    const stepPacks = lastWithinStep(rows.map(ofRow))
    const { done, packs, pieces, value } = rewrite({
      state: toSessionState(row),
      pendingSweep: Number(row.pending_sweep),
      packs: stepPacks,
      isLast: isLast && stepPacks.length === rows.length,
      named,
      added: added.map(ofRow)
    })

    const before = new Map(rows.map((each) => [Number(each.pack_number), each]))
    const increments = new SpaceCounters.Increments(sql)
    const bucket = Bucket.ofNumber(session)
    let growth = 0
    for (const { bytes, formerNewBytes, newBytes, number } of packs) {
      const isPack = sql`${isOfSession} AND pack_number = ${number}`
      if (bytes === undefined) yield* sql`DELETE FROM packs WHERE ${isPack}`
      else yield* sql`UPDATE packs SET pack = ${bytes} WHERE ${isPack}`
      const { agent_number, pack } = before.get(number)!
      const stored_bytes = (bytes?.length ?? 0) - pack.length
      growth += stored_bytes
      increments.add(
        { session_number: session, agent_number: Number(agent_number), bucket, rules: "" },
        { new_bytes: newBytes - formerNewBytes, stored_bytes }
      )
    }
    if (packs.length > 0) {
      yield* sql`UPDATE sessions SET generation = generation + 1, erased_pieces = erased_pieces + ${pieces},
        ${SessionSizes.grown(sql, sql`${growth}`)} WHERE ${isOfSession}`
      yield* sizes.rank(project_id, [session])
    }
    let erased: ErasedAtLast = { pieces: 0, bytes: 0, session: false }
    if (done === undefined) yield* space.add(project_id, increments)
    else erased = yield* finish(project_id, session, done, increments)
    return { value, erased }
  })

  const sweepPacks = Effect.fn("SqlStorage.sweepPacks")(function* <A>(
    project: ProjectId,
    session: number,
    request: SweepRequest,
    rewrite: (packs: SweepPacks) => SweepChanges<A>
  ) {
    const number = yield* projects.find(project)
    if (number === Projects.none) return undefined
    return yield* repairing(
      TwoPhaseCommit.transaction(
        sql,
        Effect.tap(sweepIn(number, session, request, rewrite), () => requestScrub)
      )
    )
  })

  return { listPendingSweep, sweepPacks }
}
