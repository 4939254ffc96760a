/** Keeps `rollups` in step with `events`: adds those that were recorded, and takes away those that are erased. */
import type { AppendEvent, EventId, ProjectId } from "@tachograph/core"
import * as Effect from "effect/Effect"
import type { SqlClient, SqlError, Statement } from "effect/sql"
import type * as IndexRepair from "../sql/IndexRepair.ts"
import type * as Projects from "../names/Projects.ts"
import * as Bucket from "../dialect/Bucket.ts"
import * as UuidColumn from "../dialect/UuidColumn.ts"
import * as EventIndex from "../dialect/EventIndex.ts"
import * as TwoPhaseCommit from "../dialect/TwoPhaseCommit.ts"
import * as CountedEvents from "./CountedEvents.ts"
import * as Position from "./Position.ts"
import * as Damages from "./Damages.ts"
import * as Rollups from "./Rollups.ts"
import * as Series from "./Series.ts"

/** Whether events may be below the position: their ids were not given for the append. */
export const areLate = (events: ReadonlyArray<AppendEvent>): boolean => events.some(({ hasNewId = false }) => !hasNewId)

export type Derivation = ReturnType<typeof make>

export const make = (sql: SqlClient.SqlClient, projects: Projects.Projects, { repairing }: IndexRepair.Repairs) => {
  const repairingRollups = repairing(["rollups"])
  const events = CountedEvents.make(sql)
  const positions = Position.make(sql)
  const rollups = Rollups.make(sql)
  const toStored = UuidColumn.encoder(sql)

  /** Adds events to the rows. The position is locked. */
  const include = Effect.fnUntraced(function* (project_id: number, added: ReadonlyArray<CountedEvents.CountedEvent>) {
    const sums = Rollups.add(added)
    const existing = yield* rollups.read(project_id, Array.from(sums.values()))
    const changed = Array.from(sums, ([name, rollup]) => {
      const found = existing.get(name)
      if (found === undefined) return rollup
      found.tally.merge(rollup.tally)
      return {
        ...found,
        first: rollup.first && Rollups.earlier(found.first, rollup.first),
        last: rollup.last && Rollups.later(found.last, rollup.last)
      }
    })
    yield* rollups.write(project_id, changed)
  })

  /** A transaction that changes the rows of a project alone: one node has them, and commits in one phase. */
  const transaction = <A>(use: Effect.Effect<A, SqlError.SqlError>) => TwoPhaseCommit.transaction(sql, use, () => true)

  /** The first or the last event that is left to a row of a session. */
  const endOf = Effect.fnUntraced(function* (
    project_id: number,
    { agent, agentVersion, model, person, responseModel, session }: Rollups.Rollup,
    order: EventIndex.Order
  ): Effect.fn.Return<EventId | undefined, SqlError.SqlError> {
    const isOfPart = ({ agentVersion: version, ...event }: CountedEvents.CountedEvent) =>
      version === agentVersion &&
      event.person === person &&
      event.model === model &&
      event.responseModel === responseModel
    for (let after: Statement.Fragment = sql.literal(""); ;) {
      const rows = yield* sql<CountedEvents.Row>`SELECT ${CountedEvents.selected(sql)}
        FROM events ${EventIndex.hint(sql, "events_by_session")}
        WHERE project_id = ${project_id} AND session_number = ${session} AND agent_number = ${agent}${after}
          ${Bucket.and(sql, Bucket.ofNumber(session))}
        ORDER BY event_id ${EventIndex.direction(sql, order)} LIMIT ${endStep}`
      const found = (yield* events.toCounted(project_id, rows)).find(isOfPart)
      if (found !== undefined || rows.length < endStep) return found?.id
      const last = rows.at(-1)!.event_id
      after = order === "asc" ? sql` AND event_id > ${last}` : sql` AND event_id < ${last}`
    }
  })

  /** Takes events away from the rows after they were deleted. The position is locked. */
  const exclude = Effect.fnUntraced(function* (project_id: number, erased: ReadonlyArray<CountedEvents.CountedEvent>) {
    const sums = Rollups.add(erased)
    const existing = yield* rollups.read(project_id, Array.from(sums.values()))
    const removed: Array<Rollups.Rollup> = []
    const changed: Array<Rollups.Rollup> = []
    for (const [name, rollup] of sums) {
      const found = existing.get(name)
      if (found === undefined) continue
      found.tally.merge(rollup.tally, -1)
      if (found.tally.events === 0) removed.push(found)
      else if (found.series !== Series.session) changed.push(found)
      else {
        const first = rollup.first === found.first ? yield* endOf(project_id, found, "asc") : found.first
        const last = rollup.last === found.last ? yield* endOf(project_id, found, "desc") : found.last
        // Where no event is left, the sums were wrong.
        if (first === undefined || last === undefined) removed.push(found)
        else changed.push({ ...found, first, last })
      }
    }
    yield* rollups.write(project_id, changed)
    yield* rollups.remove(project_id, removed)
  })

  /**
   * Changes rows, and moves the position. If a row is damaged, all are dropped and built anew, so that damage stops neither an erasure nor
   * what is added later. Returns the position.
   */
  const change = (
    project_id: number,
    next: Position.Position,
    apply: Effect.Effect<void, SqlError.SqlError>
  ): Effect.Effect<Position.Position, SqlError.SqlError> =>
    Effect.catchIf(apply.pipe(Effect.andThen(positions.put(project_id, next)), Effect.as(next)), Damages.isDamage, () =>
      positions.reset(project_id, next)
    )

  const deriveIn = Effect.fnUntraced(function* (project_id: number, upTo: EventId, limit: number) {
    const position = yield* positions.tryLock(project_id)
    if (position === undefined) return 0
    const added = yield* events.page(project_id, { above: position.last, upTo }, limit)
    if (added.length === 0) return 0
    const next = Position.advanced(position, added.at(-1)!.id)
    yield* change(project_id, next, include(project_id, added))
    return added.length
  })

  const deriveEvents = Effect.fn("SqlStorage.deriveEvents")(function* (
    project: ProjectId,
    upTo: EventId,
    limit: number
  ) {
    const number = yield* projects.find(project)
    if (number === undefined) return 0
    return yield* repairingRollups(deriveNext(number, upTo, limit))
  })

  const deriveNext = Effect.fnUntraced(function* (number: number, upTo: EventId, limit: number) {
    // Without a transaction first, which would wait for others that write.
    const { last } = yield* Effect.catchIf(positions.read(number), Damages.isDamage, () =>
      Effect.succeed(Position.first)
    )
    const next = yield* sql`SELECT 1 FROM events WHERE project_id = ${number} AND event_id > ${toStored(last)}
      AND event_id <= ${toStored(upTo)} LIMIT 1`
    return next.length === 0 ? 0 : yield* transaction(deriveIn(number, upTo, limit))
  })

  const dropDerived = Effect.fn("SqlStorage.dropDerived")(function* (project: ProjectId) {
    const number = yield* projects.find(project)
    if (number === undefined) return
    const drop = Effect.flatMap(positions.lock(number), (position) => positions.reset(number, position))
    yield* repairingRollups(transaction(drop))
  })

  /** In a transaction: the position, which stays where it is. Taken before others can derive what the transaction changes. */
  const lock = positions.lock

  /** Changes the rows for events that were appended or erased in the transaction that has the lock. Returns the position. */
  const following = (apply: typeof include) =>
    Effect.fnUntraced(function* (
      project_id: number,
      position: Position.Position,
      changed: ReadonlyArray<CountedEvents.CountedEvent>
    ) {
      // Those above the position are added later, or never were.
      const derived = changed.filter(({ id }) => id <= position.last)
      if (derived.length === 0) return position
      return yield* change(project_id, Position.edited(position), apply(project_id, derived))
    })

  return {
    deriveEvents,
    dropDerived,
    lock,
    afterAppend: following(include),
    afterErasure: following(exclude),
    toCounted: events.toCounted
  }
}

/** Events of a session that one statement reads to find one of a part. */
const endStep = 500
