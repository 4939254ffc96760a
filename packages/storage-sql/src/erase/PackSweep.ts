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
import * as SharedPieces from "../append/SharedPieces.ts"
import * as Bucket from "../dialect/Bucket.ts"
import * as EventIndex from "../dialect/EventIndex.ts"
import * as Locks from "../dialect/Locks.ts"
import * as StoredBytes from "../dialect/StoredBytes.ts"
import * as Dialects from "../dialect/Dialects.ts"
import * as TwoPhaseCommit from "../dialect/TwoPhaseCommit.ts"
import type * as Projects from "../names/Projects.ts"
import { type Integer, type SessionRow, toSessionState } from "../sql/RowDecoding.ts"
import { isCorruption } from "../sql/SqlErrors.ts"
import * as SessionSizes from "../space/SessionSizes.ts"
import type * as IndexRepair from "../sql/IndexRepair.ts"
import * as SpaceCounters from "../space/SpaceCounters.ts"

interface PackRow {
  readonly pack_number: Integer
  readonly agent_number: Integer
  readonly kept: Integer
  readonly pack: Uint8Array
}

/** Bytes of packs that one step reads; at least one pack. */
const maxStepBytes = 8 * 1024 * 1024

/** `named` are the packs that events name: what damage marks as erased is kept all the same. */
const toSweepPack =
  (named: ReadonlySet<number>) =>
  ({ kept, pack, pack_number }: PackRow) => ({
    number: Number(pack_number),
    bytes: pack,
    isKept: Number(kept) === 1 || named.has(Number(pack_number))
  })

/** Every transaction that rewrites something runs `requestScrub`. */
export const make = (
  sql: SqlClient.SqlClient,
  projects: Projects.Projects,
  requestScrub: Effect.Effect<void, SqlError.SqlError>,
  { repairing: repairingIn }: IndexRepair.Repairs
) => {
  const shared = SharedPieces.make(sql)
  const space = SpaceCounters.make(sql, projects)
  const sizes = SessionSizes.make(sql)
  const repairing = repairingIn(["sessions", "packs", "shared_pieces", "shared_piece_owners"])

  const isOf = (project_id: number, session: number) =>
    sql`project_id = ${project_id} AND session_number = ${session}${Bucket.and(sql, Bucket.ofNumber(session))}`

  const listPendingSweep = Effect.fn("SqlStorage.listPendingSweep")(function* (project: ProjectId, limit: number) {
    const number = yield* projects.find(project)
    if (number === undefined) return []
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

  /** The lowest pack of the step, and whether it is the session's lowest. */
  const stepDown = Effect.fnUntraced(function* (project_id: number, session: number, { limit, to }: SweepRequest) {
    const sizes = yield* sql<{
      pack_number: Integer
      size: Integer
    }>`SELECT pack_number, octet_length(pack) AS size FROM packs
      WHERE ${isOf(project_id, session)} AND pack_number <= ${to}
      ORDER BY pack_number DESC LIMIT ${limit + 1}`
    let bytes = 0
    let count = 0
    for (const { size } of sizes) {
      bytes += Number(size)
      if (count === limit || (bytes > maxStepBytes && count > 0)) break
      count++
    }
    return { from: Number(sizes[count - 1]?.pack_number ?? 0), isLast: count === sizes.length }
  })

  /** Packs from one number to another, both included; to the last one without `to`. */
  const readPacks = (project_id: number, session: number, from: number, to?: number) =>
    sql<PackRow>`SELECT pack_number, agent_number, kept, ${StoredBytes.select(sql, "pack")} FROM packs
      WHERE ${isOf(project_id, session)} AND pack_number >= ${from}
        ${to === undefined ? sql.literal("") : sql`AND pack_number <= ${to}`}
      ORDER BY pack_number`

  /** The packs that the session's events name. Reads all of them: once in a sweep. */
  const namedByEvents = Effect.fnUntraced(function* (project_id: number, session: number) {
    const rows = yield* sql<{ pack_number: Integer }>`SELECT pack_number FROM events e
      ${EventIndex.hint(sql, "events_by_session")} WHERE ${isOf(project_id, session)}`
    return new Set(rows.map((row) => Number(row.pack_number)))
  })

  const finish = Effect.fnUntraced(function* (
    project_id: number,
    session: number,
    { owned, pendingSweep, remaining }: NonNullable<SweepChanges<unknown>["done"]>,
    increments: SpaceCounters.Increments
  ) {
    const isOfSession = isOf(project_id, session)
    const deleted = yield* shared.disown(project_id, session, owned)
    const events = yield* sql`SELECT 1 FROM events WHERE ${isOfSession} LIMIT 1`
    // Keeps the count, negated, so that a later erasure counts on from it: a sweep that began before this one must not take
    // that erasure for the one it has swept.
    const swept = yield* sql`UPDATE sessions SET pending_sweep = -abs(pending_sweep),
        erased_pieces = history + parts - ${remaining}
      WHERE ${isOfSession} AND pending_sweep = ${pendingSweep} RETURNING session_number`
    const isEmpty = swept.length > 0 && events.length === 0
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

  const sweepIn = Effect.fnUntraced(function* <A>(
    project_id: number,
    session: number,
    request: SweepRequest,
    rewrite: (packs: SweepPacks) => SweepChanges<A>
  ) {
    const isOfSession = isOf(project_id, session)
    const [row] = yield* sql<SessionRow & { pending_sweep: Integer }>`
      SELECT session_number, generation, packs, history, parts, pending_sweep FROM sessions
      WHERE ${isOfSession} ${Locks.update(sql)}`
    if (row === undefined) return undefined
    const { from, isLast } = yield* stepDown(project_id, session, request)
    const rows = yield* readPacks(project_id, session, from, request.to)
    const added = yield* readPacks(project_id, session, request.above + 1)
    const named = request.named ?? (yield* namedByEvents(project_id, session))
    const ofRow = toSweepPack(named)
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
    if (number === undefined) return undefined
    return yield* repairing(
      TwoPhaseCommit.transaction(
        sql,
        Effect.tap(sweepIn(number, session, request, rewrite), () => requestScrub)
      )
    )
  })

  const deleteIn = Effect.fnUntraced(function* (project_id: number, session: number, limit: number) {
    const isOfSession = isOf(project_id, session)
    const [row] = yield* sql<{ pending_sweep: Integer; pieces: Integer }>`
      SELECT pending_sweep, history + parts - erased_pieces AS pieces FROM sessions
      WHERE ${isOfSession} ${Locks.update(sql)}`
    if (row === undefined) return undefined
    if ((yield* sql`SELECT 1 FROM events WHERE ${isOfSession} LIMIT 1`).length > 0) return undefined
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
    if (number === undefined) return undefined
    return yield* repairing(
      TwoPhaseCommit.transaction(
        sql,
        Effect.tap(deleteIn(number, session, limit), (erased) => (erased === undefined ? Effect.void : requestScrub))
      )
    )
  })

  return { deleteEmptySession, listPendingSweep, sweepPacks }
}
