/** Deletes events, and people without events. What only those events held is deleted later, by sweeping their sessions. */
import { type Erasable, type ErasedEvents, type ProjectId, type StoredAudit } from "@tachograph/core"
import * as Effect from "effect/Effect"
import type { SqlClient, SqlError } from "effect/sql"
import * as IdempotencyKeys from "../append/IdempotencyKeys.ts"
import * as Bucket from "../dialect/Bucket.ts"
import * as UuidColumn from "../dialect/UuidColumn.ts"
import * as TwoPhaseCommit from "../dialect/TwoPhaseCommit.ts"
import * as EventFilter from "../filter/EventFilter.ts"
import * as Projects from "../names/Projects.ts"
import type * as Derivation from "../rollup/Derivation.ts"
import * as Attempts from "../sql/Attempts.ts"
import * as BytesRepair from "../sql/BytesRepair.ts"
import { isCorruption } from "../sql/SqlErrors.ts"
import type * as IndexRepair from "../sql/IndexRepair.ts"
import * as EventDeletion from "./EventDeletion.ts"
import * as Audit from "../resources/Audit.ts"

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
  const eraseInBuckets = EventDeletion.make(sql, projects, derivation)
  const keys = IdempotencyKeys.make(sql)
  const filter = EventFilter.make(sql)
  const repairingEvents = repairing(["events", "idempotency_keys", "sessions"])

  /** The oldest events that are to be erased. */
  const find = Effect.fnUntraced(function* (project_id: number, which: Erasable, limit: number) {
    if ("before" in which || "event" in which) {
      const isErasable =
        "before" in which ? sql`event_id < ${toStored(which.before)}` : sql`event_id = ${toStored(which.event)}`
      const rows = sql`SELECT event_id, session_number${Bucket.andColumn(sql)} FROM events
        WHERE project_id = ${project_id} AND ${isErasable} ORDER BY event_id LIMIT ${limit}`
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
    const candidates = yield* sql<EventDeletion.Candidate>`
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
    if (number === Projects.none) return { events: 0 }
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

  return { eraseEvents }
}
