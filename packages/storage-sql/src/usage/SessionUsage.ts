/** The events of sessions, session by session in the order of their numbers. */
import { SessionRank, type UsageQuery } from "@tachograph/core"
import * as Effect from "effect/Effect"
import type { SqlClient, SqlError } from "effect/sql"
import * as Bucket from "../dialect/Bucket.ts"
import * as BulkValues from "../dialect/BulkValues.ts"
import * as CallTimes from "../dialect/CallTimes.ts"
import * as EventIndex from "../dialect/EventIndex.ts"
import * as UuidColumn from "../dialect/UuidColumn.ts"
import type * as CountedEvent from "../rollup/CountedEvent.ts"
import * as CountedEvents from "../rollup/CountedEvents.ts"
import * as RollupPosition from "../rollup/RollupPosition.ts"
import * as Damages from "../rollup/Damages.ts"
import * as Rollups from "../rollup/Rollups.ts"
import * as Series from "../rollup/Series.ts"

/** Sessions that are found by one statement. */
const sessionStep = 1_000

/** Events that one statement reads, about, unless a session has more. */
const maxEvents = 20_000

export const make = (sql: SqlClient.SqlClient) => {
  const events = CountedEvents.make(sql).intact
  const positions = RollupPosition.make(sql)
  const rollups = Rollups.make(sql)
  const toStored = UuidColumn.encoder(sql)

  /** Calls `use` with the events of some sessions, which have about as many as they say. */
  const forEach = Effect.fnUntraced(function* (
    project_id: number,
    counts: ReadonlyArray<readonly [session: number, events: number]>,
    { fromMs, toMs }: Pick<UsageQuery, "fromMs" | "toMs">,
    use: (event: CountedEvent.CountedEvent) => void
  ): Effect.fn.Return<void, SqlError.SqlError> {
    const isAny = fromMs === undefined && toMs === undefined
    const range = isAny ? {} : { condition: CallTimes.isDuring(sql, { fromMs, toMs }) }
    const isLong = ([, events]: readonly [number, number]) => events >= eventStep
    for (const [session] of counts.filter(isLong)) yield* events.forEachOf(project_id, session, range, use)
    const sessions = counts.filter((each) => !isLong(each)).map(([session]) => session)
    if (sessions.length === 0) return
    const isDuring = range.condition === undefined ? sql.literal("") : sql` AND ${range.condition}`
    const found = yield* events.read(project_id, {
      where: sql`e.project_id = ${project_id} AND ${BulkValues.isAmong(sql, "e.session_number", "integer", sessions)}
        ${isDuring}${Bucket.and(sql, sessions.map(Bucket.ofNumber), "e.")}`,
      order: sql.literal("e.session_number, e.event_id"),
      hint: EventIndex.hint(sql, "events_by_session")
    })
    found.forEach(use)
  })

  /**
   * The same of however many sessions, in some steps of whole sessions, until `isEnough`, which is asked after each step with how many events
   * that had. Returns the last session of a step after which it was enough, unless it is the last of all.
   */
  const forEachIn = Effect.fnUntraced(function* (
    project_id: number,
    counts: ReadonlyArray<readonly [session: number, events: number]>,
    times: Pick<UsageQuery, "fromMs" | "toMs">,
    use: (event: CountedEvent.CountedEvent) => void,
    isEnough: (events: number) => boolean = () => false
  ): Effect.fn.Return<number | undefined, SqlError.SqlError> {
    let step: Array<readonly [number, number]> = []
    let stepEvents = 0
    for (const [index, count] of counts.entries()) {
      step.push(count)
      stepEvents += count[1]
      const isEnd = index === counts.length - 1
      if (stepEvents < eventStep && !isEnd) continue
      yield* forEach(project_id, step, times, use)
      if (isEnough(stepEvents) && !isEnd) return count[0]
      step = []
      stepEvents = 0
    }
    return undefined
  })

  /**
   * Calls `use` with the events of the sessions after a number, in some steps of whole sessions, until `isFull` or after about
   * `maxEvents`. Returns the last session that it has looked at, if there may be more.
   */
  const addAll = Effect.fnUntraced(function* (
    project_id: number,
    query: UsageQuery,
    after: number,
    use: (event: CountedEvent.CountedEvent) => void,
    isFull: () => boolean
  ): Effect.fn.Return<number | undefined, SqlError.SqlError> {
    const { last } = yield* positions.read(project_id)
    const recent = new Map<number, number>()
    yield* events.forEach(project_id, { above: last }, ({ session }) => {
      recent.set(session, (recent.get(session) ?? 0) + 1)
    })
    const { fromMs = 0, toMs } = query
    let looked = 0
    for (let from = after; ;) {
      const rows = yield* sql<Rollups.Row>`SELECT ${Rollups.selected(sql)} FROM rollups
        WHERE ${rollups.ofProject(project_id)} AND series = ${Series.session}
          AND session_number > ${from} AND last_call >= ${toStored(SessionRank.of(fromMs, 0))}
        ORDER BY session_number LIMIT ${sessionStep}`
      const isLast = rows.length < sessionStep
      // A session may have more rows than the step.
      const to = isLast ? Number.POSITIVE_INFINITY : Number(rows.at(-1)!.session_number)
      const counts = new Map(Array.from(recent).filter(([session]) => session > from && session <= to))
      for (const row of rows) {
        const { firstMs, session, tally } = yield* Damages.readable(() => Rollups.of(project_id, row))
        // Another row of the session, which the next step does not read, may be of the time.
        const isCut = session === to
        if (toMs !== undefined && firstMs! >= toMs && !isCut) continue
        counts.set(session, (counts.get(session) ?? 0) + tally.events)
      }
      const sessions = Array.from(counts).sort(([a], [b]) => a - b)
      const isEnough = (events: number) => isFull() || (looked += events) >= maxEvents
      const last = yield* forEachIn(project_id, sessions, query, use, isEnough)
      if (last !== undefined) return last
      if (isLast) return undefined
      if (isFull() || looked >= maxEvents) return to
      from = to
    }
  })

  return { addAll, forEachIn }
}

/** Events that one statement reads, about: those of some sessions. */
const eventStep = 2_000
