/** Keeps `rollups` in step with `events`: adds those that were recorded, and takes away those that are erased. */
import type { AppendEvent, EventId, ProjectId } from "@tachograph/core"
import * as Effect from "effect/Effect"
import type { SqlClient, SqlError } from "effect/sql"
import type * as IndexRepair from "../sql/IndexRepair.ts"
import * as Projects from "../names/Projects.ts"
import * as UuidColumn from "../dialect/UuidColumn.ts"
import * as TwoPhaseCommit from "../dialect/TwoPhaseCommit.ts"
import type * as CountedEvent from "./CountedEvent.ts"
import * as CountedEvents from "./CountedEvents.ts"
import * as RollupPosition from "./RollupPosition.ts"
import * as Damages from "./Damages.ts"
import * as Digests from "./Digests.ts"
import * as RollupChanges from "./RollupChanges.ts"

/** Whether events may be below the position: their ids were not given for the append. */
export const areLate = (events: ReadonlyArray<AppendEvent>): boolean => events.some(({ hasNewId = false }) => !hasNewId)

export type Derivation = ReturnType<typeof make>

export const make = (sql: SqlClient.SqlClient, projects: Projects.Projects, { repairing }: IndexRepair.Repairs) => {
  const repairingRollups = repairing(["rollups"])
  const events = CountedEvents.make(sql)
  const positions = RollupPosition.make(sql)
  const digests = Digests.make(sql)
  const { exclude, include } = RollupChanges.make(sql, events)
  const toStored = UuidColumn.encoder(sql)

  /** A transaction that changes the rows of a project alone: one node has them, and commits in one phase. */
  const transaction = <A>(use: Effect.Effect<A, SqlError.SqlError>) => TwoPhaseCommit.transaction(sql, use, () => true)

  /**
   * Changes rows, and moves the position. If a row is damaged, all are dropped and built anew, so that damage stops neither an erasure nor
   * what is added later. Returns the position.
   */
  const change = (
    project_id: number,
    next: RollupPosition.RollupPosition,
    apply: Effect.Effect<void, SqlError.SqlError>
  ): Effect.Effect<RollupPosition.RollupPosition, SqlError.SqlError> =>
    Effect.catchIf(apply.pipe(Effect.andThen(positions.put(project_id, next)), Effect.as(next)), Damages.isDamage, () =>
      positions.reset(project_id, next)
    )

  const deriveIn = Effect.fnUntraced(function* (project_id: number, upTo: EventId, limit: number) {
    const position = yield* positions.tryLock(project_id)
    if (position === undefined) return 0
    const added = yield* events.page(project_id, { above: position.last, upTo }, limit)
    if (added.length === 0) return 0
    const next = RollupPosition.advanced(position, added.at(-1)!.id)
    yield* change(project_id, next, include(project_id, added))
    return added.length
  })

  const deriveEvents = Effect.fn("SqlStorage.deriveEvents")(function* (
    project: ProjectId,
    upTo: EventId,
    limit: number
  ) {
    const number = yield* projects.find(project)
    return yield* repairingRollups(
      Effect.tap(deriveNext(number, upTo, limit), (added) =>
        // Not before all events are in the rows.
        added < limit ? digests.gather(number, added === 0, transaction) : Effect.void
      )
    )
  })

  const deriveNext = Effect.fnUntraced(function* (number: number, upTo: EventId, limit: number) {
    // Without a transaction first, which would wait for others that write.
    const { last } = yield* Effect.catchIf(positions.read(number), Damages.isDamage, () =>
      Effect.succeed(RollupPosition.first)
    )
    const next = yield* sql`SELECT 1 FROM events WHERE project_id = ${number} AND event_id > ${toStored(last)}
      AND event_id <= ${toStored(upTo)} LIMIT 1`
    return next.length === 0 ? 0 : yield* transaction(deriveIn(number, upTo, limit))
  })

  const dropDerived = Effect.fn("SqlStorage.dropDerived")(function* (project: ProjectId) {
    const number = yield* projects.find(project)
    if (number === Projects.none) return
    const drop = Effect.flatMap(positions.lock(number), (position) => positions.reset(number, position))
    yield* repairingRollups(transaction(drop))
  })

  /** In a transaction: the position, which stays where it is. Taken before others can derive what the transaction changes. */
  const lock = positions.lock

  /** Changes the rows for events that were appended or erased in the transaction that has the lock. Returns the position. */
  const following = (apply: typeof include) =>
    Effect.fnUntraced(function* (
      project_id: number,
      position: RollupPosition.RollupPosition,
      changed: ReadonlyArray<CountedEvent.CountedEvent>
    ) {
      // Those above the position are added later, or never were.
      const derived = changed.filter(({ id }) => id <= position.last)
      if (derived.length === 0) return position
      const followed = apply(project_id, derived)
      const forgotten = digests.forget(
        project_id,
        derived.map(({ session }) => session)
      )
      return yield* change(project_id, RollupPosition.edited(position), Effect.andThen(followed, forgotten))
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
