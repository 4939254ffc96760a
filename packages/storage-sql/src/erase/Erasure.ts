/** Deletes events, and people without events. What only those events held is deleted later, by sweeping their sessions. */
import {
  type Erasable,
  type ErasedEvents,
  Errors,
  type PersonId,
  type ProjectId,
  type StoredAudit
} from "@tachograph/core"
import * as Effect from "effect/Effect"
import type { SqlClient, SqlError } from "effect/sql"
import * as IdempotencyKeys from "../append/IdempotencyKeys.ts"
import * as Bucket from "../dialect/Bucket.ts"
import * as BulkValues from "../dialect/BulkValues.ts"
import * as CommitOrder from "../dialect/CommitOrder.ts"
import * as Dialects from "../dialect/Dialects.ts"
import * as Locks from "../dialect/Locks.ts"
import * as UuidColumn from "../dialect/UuidColumn.ts"
import * as TwoPhaseCommit from "../dialect/TwoPhaseCommit.ts"
import * as EventFilter from "../filter/EventFilter.ts"
import * as EventKinds from "../names/EventKinds.ts"
import * as PeopleInUse from "../names/PeopleInUse.ts"
import type * as Projects from "../names/Projects.ts"
import * as CountedEvent from "../rollup/CountedEvent.ts"
import type * as Derivation from "../rollup/Derivation.ts"
import * as Attempts from "../sql/Attempts.ts"
import * as BytesRepair from "../sql/BytesRepair.ts"
import type { Integer } from "../sql/RowDecoding.ts"
import { isCorruption } from "../sql/SqlErrors.ts"
import * as SpaceCounters from "../space/SpaceCounters.ts"
import type * as IndexRepair from "../sql/IndexRepair.ts"
import * as Audit from "../resources/Audit.ts"

const packTypes = { session_number: "integer", pack_number: "integer" } as const satisfies BulkValues.Types

/** An event to erase. */
interface Candidate {
  readonly event_id: UuidColumn.StoredId
  readonly session_number: Integer
  /** Only in a distributed database. */
  readonly bucket?: number
}

/** Every transaction that deletes something runs `requestScrub`. */
export const make = (
  sql: SqlClient.SqlClient,
  projects: Projects.Projects,
  derivation: Derivation.Derivation,
  requestScrub: Effect.Effect<void, SqlError.SqlError>,
  { repairing }: IndexRepair.Repairs
) => {
  const toStored = UuidColumn.encoder(sql)
  const audit = Audit.writer(sql)
  const space = SpaceCounters.make(sql, projects)
  const keys = IdempotencyKeys.make(sql)
  const kinds = EventKinds.make(sql)
  const filter = EventFilter.make(sql)
  const repairingEvents = repairing(["events", "idempotency_keys", "sessions"])
  const repairingPeople = repairing(["people"])
  const packColumns = BulkValues.make(sql, BulkValues.named(packTypes))

  /** The oldest events that are to be erased. */
  const find = Effect.fnUntraced(function* (project_id: number, which: Erasable, limit: number) {
    if ("before" in which) {
      const rows = sql`SELECT event_id, session_number${Bucket.andColumn(sql)} FROM events
        WHERE project_id = ${project_id} AND event_id < ${toStored(which.before)} ORDER BY event_id LIMIT ${limit}`
      return { rows, count: undefined }
    }
    return yield* filter.find(project_id, { ...which, order: "asc", limit })
  })

  /**
   * Erases up to `limit` events. Returns fewer `events` than `candidates` if others were erased concurrently. Marks their sessions as
   * pending sweep, or adds them to `unmarked`.
   */
  const eraseOnce = Effect.fnUntraced(function* (
    project_id: number,
    which: Erasable,
    limit: number,
    unmarked: Set<number> | undefined
  ) {
    const found = yield* find(project_id, which, limit)
    if (found === undefined) return { candidates: 0, events: 0 }
    const candidates = yield* sql<Candidate>`
      SELECT e.event_id, e.session_number${Bucket.andColumn(sql, "e.")} FROM (${found.rows}) AS e ORDER BY e.event_id`
    let events = 0
    const parts = Bucket.split(sql, candidates, ({ bucket }) => bucket!)
    // The keys of all shards come before the first lock: appends take them first, too.
    for (const { buckets, rows } of parts) {
      yield* keys.remove(
        project_id,
        rows.map(({ event_id }) => event_id),
        buckets
      )
    }
    for (const { buckets, rows } of parts) {
      events += yield* eraseInBuckets(project_id, buckets, rows, unmarked)
    }
    return { candidates: found.count ?? candidates.length, events }
  })

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

  const eraseIn = Effect.fnUntraced(function* (
    project_id: number,
    which: Erasable,
    limit: number,
    unmarked?: Set<number>
  ) {
    const isOfProject = sql`project_id = ${project_id}`
    for (const table of ["events", "idempotency_keys"]) {
      yield* BytesRepair.repair(sql, { table, column: "event_id", isOfParent: isOfProject })
    }
    let events = 0
    const attempt = Attempts.make("An erasure")
    for (;;) {
      const erased = yield* eraseOnce(project_id, which, limit - events, unmarked)
      events += erased.events
      // Candidates that another transaction has erased leave room for more: fewer than `limit` means that none are left.
      if (erased.events === erased.candidates || events === limit) return { events }
      yield* attempt
    }
  })

  const eraseEvents = Effect.fn("SqlStorage.eraseEvents")(function* (
    project: ProjectId,
    which: Erasable,
    limit: number,
    entry?: StoredAudit
  ) {
    const number = yield* projects.find(project)
    if (number === undefined) return { events: 0 }
    const erase = (unmarked?: Set<number>) =>
      repairingEvents(
        TwoPhaseCommit.transaction(
          sql,
          eraseIn(number, which, limit, unmarked).pipe(
            Effect.tap(({ events }) => (events > 0 ? requestScrub : Effect.void)),
            Effect.tap(() => (entry === undefined ? Effect.void : audit(number, entry))),
            // An event that a node has only prepared may be one to erase.
            Effect.tap(() => TwoPhaseCommit.refuseInDoubt(sql))
          )
        )
      )
    // The index of sessions that are pending may be what is corrupt. It is not written where the mark does not change.
    const eraseUnmarked = Effect.suspend(() => {
      const unmarked = new Set<number>()
      return Effect.map(erase(unmarked), ({ events }) => ({ events, unmarked: Array.from(unmarked) }))
    })
    return yield* Effect.catchIf(
      erase() as Effect.Effect<ErasedEvents, SqlError.SqlError>,
      isCorruption,
      () => eraseUnmarked
    )
  })

  const deleteIn = Effect.fnUntraced(function* (project_id: number, id: PersonId) {
    if (Bucket.isDistributed(sql)) yield* PeopleInUse.lockEverywhere(sql, project_id, id)
    yield* TwoPhaseCommit.refuseInDoubt(sql)
    // Waits for transactions that append events of the person. The next statement sees the events that they committed.
    const [row] = yield* sql<{ person_number: Integer }>`SELECT person_number FROM people
      WHERE project_id = ${project_id} AND person_id = ${id} ${Locks.update(sql)}`
    if (row === undefined) return yield* new Errors.PersonNotFound()
    const number = Number(row.person_number)
    const events = yield* sql`SELECT 1 FROM events
      WHERE project_id = ${project_id} AND person_number = ${number} LIMIT 1`
    if (events.length > 0) return false
    yield* sql`DELETE FROM people WHERE project_id = ${project_id} AND person_id = ${id}`
    return true
  })

  const deletePerson = Effect.fn("SqlStorage.deletePerson")(function* (project: ProjectId, id: PersonId) {
    const number = yield* projects.find(project)
    if (number === undefined) return yield* new Errors.PersonNotFound()
    return yield* repairingPeople(
      TwoPhaseCommit.transaction(
        sql,
        Effect.tap(deleteIn(number, id), (isDeleted) => (isDeleted ? requestScrub : Effect.void))
      )
    )
  })

  return { eraseEvents, deletePerson }
}
