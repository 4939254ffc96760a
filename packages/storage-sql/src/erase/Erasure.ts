/** Taking events out, and sweeping the sessions that they were in. */
import {
  type Erasable,
  type ErasedAtLast,
  Errors,
  type PersonId,
  type ProjectId,
  type SweepChanges,
  type SweepPacks,
  type SweepRequest
} from "@tachograph/core"
import { Effect } from "effect"
import type { SqlClient, SqlError } from "effect/sql"
import * as IndexHint from "../read/IndexHint.ts"
import * as IdempotencyKeys from "../append/IdempotencyKeys.ts"
import * as UuidColumn from "../sql/UuidColumn.ts"
import * as Locks from "../sql/Locks.ts"
import type * as Projects from "../names/Projects.ts"
import { maxPack, type SessionRow, toSessionState } from "../read/PackQueries.ts"
import * as SharedPieces from "../append/SharedPieces.ts"
import * as Usage from "../usage/Usage.ts"

type Integer = number | string

interface PackRow {
  readonly pack_number: Integer
  readonly agent_number: Integer
  readonly kept: Integer
  readonly pack: Uint8Array
}

/** Bytes of packs that are read in one step. */
const stepBytes = 8 * 1024 * 1024

const indexFor = (which: Erasable): IndexHint.EventIndex | undefined =>
  "person" in which ? "events_by_person" : "session" in which ? "events_by_session" : undefined

const toSweepPack = ({ kept, pack, pack_number }: PackRow) => ({
  number: Number(pack_number),
  bytes: pack,
  isKept: Number(kept) === 1
})

export const make = (
  sql: SqlClient.SqlClient,
  projects: Projects.Projects,
  scrubIsDue: Effect.Effect<void, SqlError.SqlError>
) => {
  const toStored = UuidColumn.encoder(sql)
  const shared = SharedPieces.make(sql)
  const usage = Usage.make(sql, projects)
  const keys = IdempotencyKeys.make(sql)

  const isErased = (project_id: number, which: Erasable) =>
    "person" in which
      ? sql`person_number = (
          SELECT person_number FROM people WHERE project_id = ${project_id} AND person_id = ${which.person})`
      : "session" in which
        ? sql`session_number = (
            SELECT session_number FROM sessions WHERE project_id = ${project_id} AND session_id = ${which.session})`
        : sql`event_id < ${toStored(which.before)}`

  const eraseSome = Effect.fnUntraced(function* (project_id: number, which: Erasable, limit: number) {
    const candidates = yield* sql<{ event_id: UuidColumn.StoredId; session_number: Integer }>`
      SELECT event_id, session_number FROM events ${IndexHint.of(sql, indexFor(which))}
      WHERE project_id = ${project_id} AND ${isErased(project_id, which)}
      ORDER BY event_id LIMIT ${limit}`
    if (candidates.length === 0) return { found: 0, events: 0 }
    const events = candidates.map(({ event_id }) => event_id)
    yield* keys.forget(project_id, events)
    const sessions = Array.from(new Set(candidates.map(({ session_number }) => Number(session_number))))
    const isOfThese = sql.and([sql`project_id = ${project_id}`, sql.in("session_number", sessions)])
    yield* sql`SELECT session_number FROM sessions WHERE ${isOfThese} ORDER BY session_number ${Locks.update(sql)}`
    yield* sql`UPDATE sessions SET pending_sweep = abs(pending_sweep) + 1 WHERE ${isOfThese}`

    const erased = yield* sql<{
      session_number: Integer
      agent_number: Integer
      pack_number: Integer
      sent_bytes: Integer
    }>`DELETE FROM events
      WHERE project_id = ${project_id} AND ${sql.in("event_id", events)}
      RETURNING session_number, agent_number, pack_number, inputs_bytes + output_bytes AS sent_bytes`
    const tally = new Usage.Tally()
    for (const row of erased) {
      tally.add(Number(row.session_number), Number(row.agent_number), {
        entries: -1,
        sent_bytes: -Number(row.sent_bytes)
      })
    }
    for (const [session, rows] of Map.groupBy(erased, (row) => Number(row.session_number))) {
      const numbers = rows.map(({ pack_number }) => Number(pack_number))
      yield* sql`UPDATE packs SET kept = 0
        WHERE project_id = ${project_id} AND session_number = ${session} AND ${sql.in("pack_number", numbers)}`
    }
    yield* usage.add(project_id, tally)
    return { found: candidates.length, events: erased.length }
  })

  const eraseIn = Effect.fnUntraced(function* (project_id: number, which: Erasable, limit: number) {
    let events = 0
    for (;;) {
      const erased = yield* eraseSome(project_id, which, limit - events)
      events += erased.events
      // What somebody else has erased meanwhile is gone, and there may be more behind it.
      if (erased.events === erased.found || events === limit) return { events }
    }
  })

  const eraseEvents = Effect.fn("SqlStorage.eraseEvents")(function* (
    project: ProjectId,
    which: Erasable,
    limit: number
  ) {
    const number = yield* projects.find(project)
    return number === undefined
      ? { events: 0 }
      : yield* sql.withTransaction(
          Effect.tap(eraseIn(number, which, limit), ({ events }) => (events > 0 ? scrubIsDue : Effect.void))
        )
  })

  const listUnswept = Effect.fn("SqlStorage.listUnswept")(function* (project: ProjectId, limit: number) {
    const number = yield* projects.find(project)
    if (number === undefined) return []
    const rows = yield* sql<{ session_number: Integer }>`SELECT session_number FROM sessions
      WHERE project_id = ${number} AND pending_sweep > 0 ORDER BY session_number LIMIT ${limit}`
    return rows.map(({ session_number }) => Number(session_number))
  })

  /** The lowest pack of the step, and whether there are none below it. */
  const stepDown = Effect.fnUntraced(function* (project_id: number, session: number, { limit, to }: SweepRequest) {
    const sizes = yield* sql<{
      pack_number: Integer
      size: Integer
    }>`SELECT pack_number, length(pack) AS size FROM packs
      WHERE project_id = ${project_id} AND session_number = ${session} AND pack_number <= ${to}
      ORDER BY pack_number DESC LIMIT ${limit + 1}`
    let left = stepBytes
    let count = 0
    for (const { size } of sizes) {
      left -= Number(size)
      if (count === limit || (left < 0 && count > 0)) break
      count++
    }
    return { from: Number(sizes[count - 1]?.pack_number ?? 0), isLast: count === sizes.length }
  })

  const readBetween = (project_id: number, session: number, from: number, to: number) =>
    sql<PackRow>`SELECT pack_number, agent_number, kept, pack FROM packs
      WHERE project_id = ${project_id} AND session_number = ${session} AND pack_number BETWEEN ${from} AND ${to}
      ORDER BY pack_number`

  const finish = Effect.fnUntraced(function* (
    project_id: number,
    session: number,
    { owned, pendingSweep }: { readonly owned: ReadonlyArray<Uint8Array>; readonly pendingSweep: number },
    tally: Usage.Tally
  ) {
    const isOfSession = sql`project_id = ${project_id} AND session_number = ${session}`
    const gone = yield* shared.disown(project_id, session, owned)
    tally.add(Usage.ofProject, Usage.ofProject, {
      entries: -gone.pieces,
      new_bytes: -gone.size,
      stored_bytes: -gone.bytes
    })
    const left = yield* sql`SELECT 1 FROM events WHERE ${isOfSession} LIMIT 1`
    yield* usage.add(project_id, tally)
    // The count goes on from there, so that a sweep that began before this one does not take a later erasure for its own.
    const swept = yield* sql`UPDATE sessions SET pending_sweep = -abs(pending_sweep)
      WHERE ${isOfSession} AND pending_sweep = ${pendingSweep} RETURNING session_number`
    const isGone = swept.length > 0 && left.length === 0
    if (isGone) {
      for (const table of ["storage_usage", "sessions"]) yield* sql`DELETE FROM ${sql(table)} WHERE ${isOfSession}`
    }
    return { pieces: gone.pieces, bytes: gone.bytes, session: isGone }
  })

  const sweepIn = Effect.fnUntraced(function* <A>(
    project_id: number,
    session: number,
    request: SweepRequest,
    rewrite: (packs: SweepPacks) => SweepChanges<A>
  ) {
    const isOfSession = sql`project_id = ${project_id} AND session_number = ${session}`
    const [row] = yield* sql<SessionRow & { pending_sweep: Integer }>`
      SELECT session_number, generation, packs, history, parts, pending_sweep FROM sessions
      WHERE ${isOfSession} ${Locks.update(sql)}`
    if (row === undefined) return undefined
    const { from, isLast } = yield* stepDown(project_id, session, request)
    const rows = yield* readBetween(project_id, session, from, request.to)
    const added = yield* readBetween(project_id, session, request.above + 1, maxPack)
    const { done, packs, value } = rewrite({
      state: toSessionState(row),
      pendingSweep: Number(row.pending_sweep),
      packs: rows.map(toSweepPack),
      isLast,
      added: added.map(toSweepPack)
    })

    const before = new Map(rows.map((each) => [Number(each.pack_number), each]))
    const tally = new Usage.Tally()
    for (const { bytes, formerNewBytes, newBytes, number } of packs) {
      const isPack = sql`${isOfSession} AND pack_number = ${number}`
      if (bytes === undefined) yield* sql`DELETE FROM packs WHERE ${isPack}`
      else yield* sql`UPDATE packs SET pack = ${bytes} WHERE ${isPack}`
      const { agent_number, pack } = before.get(number)!
      tally.add(session, Number(agent_number), {
        new_bytes: newBytes - formerNewBytes,
        stored_bytes: (bytes?.length ?? 0) - pack.length
      })
    }
    if (packs.length > 0) yield* sql`UPDATE sessions SET generation = generation + 1 WHERE ${isOfSession}`
    let erased: ErasedAtLast = { pieces: 0, bytes: 0, session: false }
    if (done === undefined) yield* usage.add(project_id, tally)
    else erased = yield* finish(project_id, session, done, tally)
    return { value, erased }
  })

  const sweepPacks = Effect.fn("SqlStorage.sweepPacks")(function* <A>(
    project: ProjectId,
    session: number,
    request: SweepRequest,
    rewrite: (packs: SweepPacks) => SweepChanges<A>
  ) {
    const number = yield* projects.find(project)
    return number === undefined
      ? undefined
      : yield* sql.withTransaction(Effect.tap(sweepIn(number, session, request, rewrite), () => scrubIsDue))
  })

  const deleteIn = Effect.fnUntraced(function* (project_id: number, id: PersonId) {
    // Whoever records for the person holds the row; a statement that begins after them sees their event.
    const [row] = yield* sql<{ person_number: Integer }>`SELECT person_number FROM people
      WHERE project_id = ${project_id} AND person_id = ${id} ${Locks.update(sql)}`
    if (row === undefined) return yield* new Errors.PersonNotFound()
    const number = Number(row.person_number)
    const left = yield* sql`SELECT 1 FROM events
      WHERE project_id = ${project_id} AND person_number = ${number} LIMIT 1`
    if (left.length > 0) return false
    yield* sql`DELETE FROM people WHERE project_id = ${project_id} AND person_number = ${number}`
    return true
  })

  const deletePerson = Effect.fn("SqlStorage.deletePerson")(function* (project: ProjectId, id: PersonId) {
    const number = yield* projects.find(project)
    if (number === undefined) return yield* new Errors.PersonNotFound()
    return yield* sql.withTransaction(Effect.tap(deleteIn(number, id), (isGone) => (isGone ? scrubIsDue : Effect.void)))
  })

  return { eraseEvents, listUnswept, sweepPacks, deletePerson }
}
