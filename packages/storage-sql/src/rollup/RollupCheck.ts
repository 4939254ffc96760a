/** Compares the rows of `rollups` with what the events add up to, in steps: a day, a week, or some sessions. */
import {
  CallTime,
  type DerivedCheck,
  type DerivedPlace,
  type EventId,
  EventTime,
  LocalTime,
  type ProjectId
} from "@tachograph/core"
import * as Effect from "effect/Effect"
import type { SqlClient, SqlError, Statement } from "effect/sql"
import type * as Projects from "../names/Projects.ts"
import * as CallTimes from "../dialect/CallTimes.ts"
import * as UuidColumn from "../dialect/UuidColumn.ts"
import type { Integer } from "../sql/RowDecoding.ts"
import * as CountedEvents from "./CountedEvents.ts"
import * as Position from "./Position.ts"
import * as Rollups from "./Rollups.ts"
import * as Series from "./Series.ts"

const dayMs = Series.slotsOf.day * Series.slotMs
const weekMs = Series.slotsOf.week * Series.slotMs

const sessionsPerStep = 200

const weeks: ReadonlySet<number> = new Set([
  Series.ofTimes.all.week,
  Series.ofTimes.names.week,
  Series.ofTimes.people.week
])

/** How often a step is repeated while others change the rows. */
const maxAttempts = 5

/** In the place of a version, if it has changed since the first step, or others changed the rows during a step. */
const changed = -1

/** What a step has compared. */
interface Compared {
  /** Rows that the events make. */
  readonly rows: number
  /** How many of them are missing or say something else. */
  readonly wrong: number
}

const nothing: Compared = { rows: 0, wrong: 0 }

export const make = (sql: SqlClient.SqlClient, projects: Projects.Projects) => {
  const events = CountedEvents.make(sql)
  const positions = Position.make(sql)
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
    { last }: Position.Position
  ) {
    const sums = Rollups.sums((key) => isOfStep(key.series))
    yield* events.forEachDuring(project_id, { fromMs, toMs }, { upTo: last }, sums.add)
    return yield* compare(project_id, Array.from(sums.rollups.values()))
  })

  /** The first time from one on, or an earlier one with no events between, at which there may be an event up to a position. */
  const nextTime = Effect.fnUntraced(function* (project_id: number, fromMs: number, { last }: Position.Position) {
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
    { last }: Position.Position
  ) {
    const sums = Rollups.sums(({ series }) => series === Series.session)
    for (const session of sessions) yield* events.forEachOf(project_id, session, { upTo: last }, sums.add)
    return yield* compare(project_id, Array.from(sums.rollups.values()))
  })

  const countRows = Effect.fnUntraced(function* (project_id: number) {
    const [row] = yield* sql<{ rows: Integer }>`SELECT count(*) AS rows FROM rollups
      WHERE ${rollups.ofProject(project_id)} AND series <> ${Series.position}`
    return Number(row!.rows)
  })

  /** Repeats a step that others have changed the rows during. Undefined if they always do. */
  const settled = Effect.fnUntraced(function* <A>(
    project_id: number,
    step: (position: Position.Position) => Effect.Effect<A, SqlError.SqlError>
  ) {
    for (let attempt = 0; attempt < maxAttempts; attempt++) {
      const position = yield* positions.read(project_id)
      const value = yield* step(position)
      const { version } = yield* positions.read(project_id)
      if (version === position.version) return { value, version }
    }
    return undefined
  })

  const stepAt = (
    project_id: number,
    place: DerivedPlace
  ): Effect.Effect<
    readonly [next: DerivedPlace | undefined, what: string, compared: Compared | undefined],
    SqlError.SqlError
  > =>
    Effect.gen(function* () {
      const position = yield* positions.read(project_id)
      // The version at the first step, even if that step finds nothing to compare: what is added later is in the total, but in no
      // step before it.
      const { at, kind, rows, version = position.version } = place
      const follow = (
        next: Pick<DerivedPlace, "at" | "kind">,
        done: { version: number; value: Compared } | undefined
      ) => ({ ...next, rows: rows + (done?.value.rows ?? 0), version: version === done?.version ? version : changed })
      if (kind === "session") {
        const sessions = yield* nextSessions(project_id, at)
        if (sessions.length === 0) {
          const found = yield* settled(project_id, () => countRows(project_id))
          const wrong = found?.version === version ? Math.abs(found.value - rows) : 0
          return [undefined, "in total", { rows, wrong }] as const
        }
        const done = yield* settled(project_id, (each) => compareSessions(project_id, sessions, each))
        const [first, last] = [sessions[0]!, sessions.at(-1)!]
        return [follow({ kind, at: last }, done), `of sessions ${first} to ${last}`, done?.value] as const
      }
      const [unitMs, isOfStep] =
        kind === "day"
          ? ([dayMs, (series: number) => series !== Series.session && !weeks.has(series)] as const)
          : ([weekMs, (series: number) => weeks.has(series)] as const)
      const nextMs = yield* nextTime(project_id, at, position)
      if (nextMs === undefined) {
        const next = kind === "day" ? ({ kind: "week", at: 0 } as const) : ({ kind: "session", at: 0 } as const)
        return [{ ...next, rows, version }, "", nothing] as const
      }
      const fromMs = nextMs - (nextMs % unitMs)
      const toMs = fromMs + unitMs
      const done = yield* settled(project_id, (each) => compareTimes(project_id, fromMs, toMs, isOfStep, each))
      const what = `of the ${kind} ${kind === "day" ? "" : "from "}${LocalTime.formatDay(fromMs / dayMs)}`
      return [follow({ kind, at: toMs }, done), what, done?.value] as const
    })

  /** Repeated while others change the rows during it, so that the check has a version to begin with. */
  const firstStep = Effect.fnUntraced(function* (project_id: number) {
    const place: DerivedPlace = { kind: "day", at: 0, rows: 0, version: undefined }
    for (let attempt = 1; ; attempt++) {
      const step = yield* stepAt(project_id, place)
      const [next] = step
      if (next?.version !== changed || attempt === maxAttempts) return step
    }
  })

  const checkDerived = Effect.fn("SqlStorage.checkDerived")(function* (
    project: ProjectId,
    after: DerivedPlace | undefined
  ): Effect.fn.Return<DerivedCheck, SqlError.SqlError> {
    const number = yield* projects.find(project)
    if (number === undefined) return { damage: [], next: undefined }
    const [next, what, compared = nothing] = yield* after === undefined ? firstStep(number) : stepAt(number, after)
    const damage = `${compared.wrong} of ${compared.rows} rows ${what} are not what the events add up to`
    return { damage: compared.wrong === 0 ? [] : [damage], next }
  })

  return { checkDerived }
}
