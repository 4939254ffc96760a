/** Adds events to the rows of `rollups`, and takes them away. */
import { Peaks } from "@tachograph/core"
import * as Effect from "effect/Effect"
import type { SqlClient } from "effect/sql"
import type * as CountedEvent from "./CountedEvent.ts"
import type * as CountedEvents from "./CountedEvents.ts"
import * as Rollups from "./Rollups.ts"
import * as Series from "./Series.ts"
import * as SessionEnds from "./SessionEnds.ts"

export const make = (
  sql: SqlClient.SqlClient,
  { toCounted }: Pick<ReturnType<typeof CountedEvents.make>, "toCounted">
) => {
  const rollups = Rollups.make(sql)
  const ends = SessionEnds.make(sql, toCounted)

  /** Adds events to the rows. The position is locked. */
  const include = Effect.fnUntraced(function* (project_id: number, added: ReadonlyArray<CountedEvent.CountedEvent>) {
    const sums = Rollups.add(added)
    const existing = yield* rollups.read(project_id, Array.from(sums.values()))
    const changed = Array.from(sums, ([name, rollup]) => {
      const found = existing.get(name)
      if (found === undefined) return rollup
      found.tally.merge(rollup.tally)
      return { ...found, ...Rollups.joined(found, Rollups.endsOf(rollup)) }
    })
    yield* rollups.write(project_id, changed)
  })

  /** Takes events away from the rows after they were deleted. The position is locked. */
  const exclude = Effect.fnUntraced(function* (project_id: number, erased: ReadonlyArray<CountedEvent.CountedEvent>) {
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
        const isFirst = rollup.first === found.first
        const isLast = rollup.last === found.last || rollup.lastMs === found.lastMs
        const left = yield* ends.left(project_id, found, isFirst, isLast, rollup.peaks ?? Peaks.none)
        // Where no event is left, the sums were wrong.
        if (left === undefined) removed.push(found)
        else changed.push({ ...found, ...left })
      }
    }
    yield* rollups.write(project_id, changed)
    yield* rollups.remove(project_id, removed)
  })

  return { exclude, include }
}
