/** Compares rows of `rollups` with what events add up to, and finds where there are some. */
import { CallTime, type EventId, EventTime } from "@tachograph/core"
import * as Effect from "effect/Effect"
import type { SqlClient, Statement } from "effect/sql"
import * as CallTimes from "../dialect/CallTimes.ts"
import * as UuidColumn from "../dialect/UuidColumn.ts"
import type { Integer } from "../sql/RowDecoding.ts"
import * as CountedEvents from "./CountedEvents.ts"
import type * as RollupPosition from "./RollupPosition.ts"
import * as Rollups from "./Rollups.ts"
import * as Series from "./Series.ts"

const sessionsPerStep = 200

/** What a step has compared. */
export interface Compared {
  /** Rows that the events make. */
  readonly rows: number
  /** How many of them are missing or say something else. */
  readonly wrong: number
}

export const make = (sql: SqlClient.SqlClient) => {
  const events = CountedEvents.make(sql)
  const rollups = Rollups.make(sql)
  const toStored = UuidColumn.encoder(sql)

  const compare = Effect.fnUntraced(function* (project_id: number, expected: ReadonlyArray<Rollups.Rollup>) {
    const stored = yield* rollups.readIntact(project_id, expected)
    const isRight = (rollup: Rollups.Rollup) => {
      const found = stored.get(rollups.nameOf(rollup))
      if (found === undefined || !Rollups.haveSameEnds(found, rollup)) return false
      // Rows of sessions, which have a first call, are kept without durations.
      return found.tally.equals(rollup.tally, Rollups.endsOf(rollup))
    }
    return { rows: expected.length, wrong: expected.filter((rollup) => !isRight(rollup)).length }
  })

  /** The rows of a range of time, of some series, up to a position. */
  const compareTimes = Effect.fnUntraced(function* (
    project_id: number,
    fromMs: number,
    toMs: number,
    isOfStep: (series: number) => boolean,
    { last }: RollupPosition.RollupPosition
  ) {
    const sums = Rollups.sums((key) => isOfStep(key.series))
    yield* events.forEachDuring(project_id, { fromMs, toMs }, { upTo: last }, sums.add)
    return yield* compare(project_id, Array.from(sums.rollups().values()))
  })

  /** The first time from one on, or an earlier one with no events between, at which there may be an event up to a position. */
  const nextTime = Effect.fnUntraced(function* (
    project_id: number,
    fromMs: number,
    { last }: RollupPosition.RollupPosition
  ) {
    const near = CallTimes.nearIds({ fromMs }).above
    const [byId] = yield* sql<{ event_id: UuidColumn.StoredId }>`SELECT event_id FROM events
      WHERE project_id = ${project_id} AND event_id > ${toStored(near!)} AND event_id <= ${toStored(last)}
      ORDER BY event_id LIMIT 1`
    const [byTime] = yield* sql<{ distant_at: Integer }>`SELECT e.distant_at FROM events e
      WHERE e.project_id = ${project_id} AND ${CallTimes.isDistantDuring(sql, { fromMs })}
        AND e.event_id <= ${toStored(last)}
      ORDER BY e.distant_at, e.event_id LIMIT 1`
    const times = [
      ...(byId === undefined ? [] : [EventTime.of(UuidColumn.decode(byId.event_id) as EventId) - CallTime.nearMs]),
      ...(byTime === undefined ? [] : [Number(byTime.distant_at)])
    ]
    return times.length === 0 ? undefined : Math.max(fromMs, Math.min(...times))
  })

  /** The next numbers of sessions that have rows, or should have some. */
  const nextSessions = Effect.fnUntraced(function* (project_id: number, after: number) {
    // A statement for each: nodes that are asked for both in one would send all numbers that follow.
    const next = (rows: Statement.Fragment) =>
      sql<{ session_number: Integer }>`${rows} AND session_number > ${after}
        ORDER BY session_number LIMIT ${sessionsPerStep}`
    const ofEvents = yield* next(sql`SELECT session_number FROM sessions WHERE project_id = ${project_id}`)
    const ofRows = yield* next(sql`SELECT DISTINCT session_number FROM rollups
      WHERE ${rollups.ofProject(project_id)} AND series = ${Series.session}`)
    const numbers = new Set([...ofEvents, ...ofRows].map((row) => Number(row.session_number)))
    return Array.from(numbers)
      .sort((a, b) => a - b)
      .slice(0, sessionsPerStep)
  })

  const compareSessions = Effect.fnUntraced(function* (
    project_id: number,
    sessions: ReadonlyArray<number>,
    { last }: RollupPosition.RollupPosition
  ) {
    const sums = Rollups.sums(({ series }) => series === Series.session)
    for (const session of sessions) yield* events.forEachOf(project_id, session, { upTo: last }, sums.add)
    return yield* compare(project_id, Array.from(sums.rollups().values()))
  })

  const countRows = Effect.fnUntraced(function* (project_id: number) {
    const [row] = yield* sql<{ rows: Integer }>`SELECT count(*) AS rows FROM rollups
      WHERE ${rollups.ofProject(project_id)} AND series NOT IN (${sql.literal(Series.ofNoEvents.join(", "))})`
    return Number(row!.rows)
  })

  return { compareSessions, compareTimes, countRows, nextSessions, nextTime }
}
