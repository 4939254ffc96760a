/** Reads the rows of the rollups that a query of usage needs. */
import type { SessionParts, TimeRanges } from "@tachograph/core"
import * as Effect from "effect/Effect"
import type { SqlClient } from "effect/sql"
import * as BulkValues from "../dialect/BulkValues.ts"
import * as Dialects from "../dialect/Dialects.ts"
import type { Integer } from "../sql/RowDecoding.ts"
import * as Damages from "../rollup/Damages.ts"
import * as Rollups from "../rollup/Rollups.ts"
import * as Series from "../rollup/Series.ts"

export const weekMs = Series.slotsOf.week * Series.slotMs

/** Rows of a series, from a slot to another, which is not in it. */
export interface SlotRange {
  readonly series: number
  readonly from_slot: number
  readonly to_slot: number
}

const slotTypes = { series: "smallint", from_slot: "integer", to_slot: "integer" } as const

export const make = (sql: SqlClient.SqlClient) => {
  const rollups = Rollups.make(sql)
  const slotRanges = BulkValues.make(sql, BulkValues.named(slotTypes))
  const peopleRows = BulkValues.make(sql, BulkValues.named({ person: "integer" }))

  const readRollups = Effect.fnUntraced(function* (
    project_id: number,
    slots: ReadonlyArray<SlotRange>,
    people: ReadonlyArray<number>,
    { agent }: SessionParts.PartFilter
  ) {
    const isOfAgent = agent === undefined ? sql.literal("") : sql` AND r.agent_number = ${agent}`
    const found: Array<Rollups.Rollup> = []
    if (people.length === 0) return found
    for (const chunk of BulkValues.chunks(slots)) {
      const columns = Rollups.selected(sql, "r.")
      const condition = sql`${rollups.ofProject(project_id, "r.")} AND r.series = ranges.series AND r.session_number = 0
        AND r.person_number = people.person AND r.slot >= ranges.from_slot AND r.slot < ranges.to_slot${isOfAgent}`
      const rows =
        yield* sql<Rollups.Row>`WITH people ${peopleRows.names} AS (${peopleRows.of(people.map((person) => ({ person })))}),
        ranges ${slotRanges.names} AS (${slotRanges.of(chunk)})
        SELECT ${columns} FROM people CROSS JOIN ranges ${Dialects.of(sql).joinEach("rollups", "r", columns, condition)}`
      yield* Damages.readable(() => rows.forEach((row) => found.push(Rollups.of(project_id, row))))
    }
    return found
  })

  /** The parts of a range whose weeks have rows: a few calls may be years from all others. */
  const rangesWithRows = Effect.fnUntraced(function* (project_id: number, range: TimeRanges.TimeRange) {
    const slots: SlotRange = {
      series: Series.ofTimes.all.week,
      from_slot: (Math.floor(range.fromMs / weekMs) * weekMs) / Series.slotMs,
      to_slot: Math.ceil(range.toMs / Series.slotMs)
    }
    const weeks = yield* readRollups(project_id, [slots], [0], {})
    const ranges: Array<TimeRanges.TimeRange> = []
    for (const atMs of weeks.map((week) => week.atMs).sort((a, b) => a - b)) {
      const last = ranges.at(-1)
      const toMs = Math.min(atMs + weekMs, range.toMs)
      if (last?.toMs === atMs) ranges.splice(-1, 1, { ...last, toMs })
      else ranges.push({ fromMs: Math.max(atMs, range.fromMs), toMs })
    }
    return ranges
  })

  /** Some people in the order of their numbers, 0 for none: those after one, of all who have events. */
  const readPeople = Effect.fnUntraced(function* (project_id: number, after: number, limit: number) {
    const rows = yield* sql<{ person_number: Integer }>`SELECT DISTINCT person_number FROM rollups
      WHERE ${rollups.ofProject(project_id)} AND series = ${Series.ofTimes.people.week} AND session_number = 0
        AND person_number > ${after}
      ORDER BY person_number LIMIT ${limit}`
    return rows.map(({ person_number }) => Number(person_number))
  })

  return { readRollups, rangesWithRows, readPeople }
}
