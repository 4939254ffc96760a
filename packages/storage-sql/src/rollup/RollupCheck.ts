/** Compares the rows of `rollups` with what the events add up to, in steps: a day, a week, or some sessions. */
import { type DerivedCheck, type DerivedPlace, LocalTime, type ProjectId } from "@tachograph/core"
import * as Effect from "effect/Effect"
import type { SqlClient, SqlError } from "effect/sql"
import type * as Projects from "../names/Projects.ts"
import * as RollupPosition from "./RollupPosition.ts"
import * as RollupComparison from "./RollupComparison.ts"
import * as Series from "./Series.ts"

const dayMs = Series.slotsOf.day * Series.slotMs
const weekMs = Series.slotsOf.week * Series.slotMs

const weeks: ReadonlySet<number> = new Set([
  Series.ofTimes.all.week,
  Series.ofTimes.names.week,
  Series.ofTimes.people.week
])

/** How often a step is repeated while others change the rows. */
const maxAttempts = 5

/** In the place of a version, if it has changed since the first step, or others changed the rows during a step. */
const changed = -1

const nothing: RollupComparison.Compared = { rows: 0, wrong: 0 }

export const make = (sql: SqlClient.SqlClient, projects: Projects.Projects) => {
  const positions = RollupPosition.make(sql)
  const { compareSessions, compareTimes, countRows, nextSessions, nextTime } = RollupComparison.make(sql)

  /** Undefined if others always change the rows during a step. */
  const settled = <A>(
    project_id: number,
    step: (position: RollupPosition.RollupPosition) => Effect.Effect<A, SqlError.SqlError>
  ) => positions.settled(project_id, maxAttempts, step)

  const stepAt = (
    project_id: number,
    place: DerivedPlace
  ): Effect.Effect<
    readonly [next: DerivedPlace | undefined, what: string, compared: RollupComparison.Compared | undefined],
    SqlError.SqlError
  > =>
    Effect.gen(function* () {
      const position = yield* positions.read(project_id)
      // The version at the first step, even if that step finds nothing to compare: what is added later is in the total, but in no
      // step before it.
      const { at, kind, rows, version = position.version } = place
      const follow = (
        next: Pick<DerivedPlace, "at" | "kind">,
        done: { version: number; value: RollupComparison.Compared } | undefined
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
    const [next, what, compared = nothing] = yield* after === undefined ? firstStep(number) : stepAt(number, after)
    const damage = `${compared.wrong} of ${compared.rows} rows ${what} are not what the events add up to`
    return { damage: compared.wrong === 0 ? [] : [damage], next }
  })

  return { checkDerived }
}
