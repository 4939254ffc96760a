/** Keeps `rollups` in step with `events`: adds those that were recorded, and takes away those that are erased. */
import type { AppendEvent, EventId, ProjectId } from "@tachograph/core"
import { Effect } from "effect"
import type { SqlClient, SqlError, Statement } from "effect/sql"
import type * as Projects from "../names/Projects.ts"
import * as Bucket from "../dialect/Bucket.ts"
import * as UuidColumn from "../dialect/UuidColumn.ts"
import * as EventIndex from "../dialect/EventIndex.ts"
import * as CountedEvents from "./CountedEvents.ts"
import * as Position from "./Position.ts"
import * as Rollups from "./Rollups.ts"
import * as Series from "./Series.ts"

/** Whether events may be below the position: their ids were not given for the append. */
export const areLate = (events: ReadonlyArray<AppendEvent>): boolean => events.some(({ hasNewId = false }) => !hasNewId)

export type Derivation = ReturnType<typeof make>

export const make = (sql: SqlClient.SqlClient, projects: Projects.Projects) => {
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

  /** The first and the last event that are left to a row of a session. */
  const endsOf = Effect.fnUntraced(function* (
    project_id: number,
    { agent, agentVersion, model, person, responseModel, session }: Rollups.Rollup
  ) {
    const isOfPart = ({ agentVersion: version, ...event }: CountedEvents.CountedEvent) =>
      version === agentVersion &&
      event.person === person &&
      event.model === model &&
      event.responseModel === responseModel
    const end = Effect.fnUntraced(function* (
      order: EventIndex.Order
    ): Effect.fn.Return<EventId | undefined, SqlError.SqlError> {
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
    return { first: yield* end("asc"), last: yield* end("desc") }
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
      else if (rollup.first === found.first || rollup.last === found.last) {
        const ends = found.first === undefined ? {} : yield* endsOf(project_id, found)
        changed.push({ ...found, ...ends })
      } else changed.push(found)
    }
    yield* rollups.write(project_id, changed)
    yield* rollups.remove(project_id, removed)
  })

  const deriveIn = Effect.fnUntraced(function* (project_id: number, upTo: EventId, limit: number) {
    const position = yield* positions.tryLock(project_id)
    if (position === undefined) return 0
    const added = yield* events.page(project_id, { above: position.last, upTo }, limit)
    if (added.length === 0) return 0
    yield* include(project_id, added)
    yield* positions.put(project_id, { last: added.at(-1)!.id, version: position.version + 1 })
    return added.length
  })

  const deriveEvents = Effect.fn("SqlStorage.deriveEvents")(function* (
    project: ProjectId,
    upTo: EventId,
    limit: number
  ) {
    const number = yield* projects.find(project)
    if (number === undefined) return 0
    // Without a transaction first, which would wait for others that write.
    const { last } = yield* positions.read(number)
    const next = yield* sql`SELECT 1 FROM events WHERE project_id = ${number} AND event_id > ${toStored(last)}
      AND event_id <= ${toStored(upTo)} LIMIT 1`
    return next.length === 0 ? 0 : yield* sql.withTransaction(deriveIn(number, upTo, limit))
  })

  const dropDerived = Effect.fn("SqlStorage.dropDerived")(function* (project: ProjectId) {
    const number = yield* projects.find(project)
    if (number === undefined) return
    const drop = Effect.gen(function* () {
      const position = yield* positions.lock(number)
      if (position === undefined) return
      yield* sql`DELETE FROM rollups WHERE ${rollups.ofProject(number)} AND series <> ${Series.position}`
      yield* positions.put(number, { ...Position.of(undefined), version: position.version + 1 })
    })
    yield* sql.withTransaction(drop)
  })

  /** In a transaction: the position, which stays where it is. Undefined if nothing has been derived. */
  const lock = positions.lock

  /** Changes the rows for events that were appended or erased in the transaction that has the lock. */
  const following = (apply: typeof include) =>
    Effect.fnUntraced(function* (
      project_id: number,
      position: Position.Position,
      changed: ReadonlyArray<CountedEvents.CountedEvent>
    ) {
      // Those above the position are added later, or never were.
      const derived = changed.filter(({ id }) => id <= position.last)
      if (derived.length === 0) return
      yield* apply(project_id, derived)
      yield* positions.put(project_id, { ...position, version: position.version + 1 })
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
