/** What is added up for a range of time: rows of the rollups, and the events that these do not have yet. */
import {
  CallTime,
  type EventId,
  type LocalTime,
  SessionParts,
  type Tally,
  TimeRanges,
  type UsageQuery
} from "@tachograph/core"
import * as ProviderNames from "@tachograph/core/domain/ProviderNames"
import * as Effect from "effect/Effect"
import type { SqlClient, SqlError } from "effect/sql"
import * as BulkValues from "../dialect/BulkValues.ts"
import * as Dialects from "../dialect/Dialects.ts"
import type { Integer } from "../sql/RowDecoding.ts"
import type * as CountedEvent from "../rollup/CountedEvent.ts"
import * as CountedEvents from "../rollup/CountedEvents.ts"
import * as Position from "../rollup/Position.ts"
import * as Damages from "../rollup/Damages.ts"
import * as Rollups from "../rollup/Rollups.ts"
import * as Series from "../rollup/Series.ts"

/** An event, or a row of events that have all of this in common. */
export interface UsageRow extends CountedEvent.CountedBy {
  readonly atMs: number
}

/** Adds a row to sums. */
export type AddUsage = (row: UsageRow, addTo: (sums: Tally) => void) => void

const { slotMs, slotsOf } = Series

const weekMs = slotsOf.week * slotMs

/** The end of the last week that has calls. */
const endMs = Math.ceil(CallTime.endMs / weekMs) * weekMs

/** The largest unit of which each is in one group. Days of other zones than UTC are made up of parts of days. */
const largestUnitOf = (
  { groupBy }: UsageQuery,
  time: LocalTime,
  ranges: ReadonlyArray<TimeRanges.TimeRange>
): Series.Unit => {
  if (groupBy.includes("hour")) {
    return ranges.every(({ fromMs, toMs }) => time.hasWholeHours(fromMs, toMs)) ? "hour" : "quarter"
  }
  if (groupBy.includes("day")) return time.isUtc ? "day" : "sixHours"
  return "week"
}

/** Whose rows are read, 0 for those without a person, and which events belong to them. */
interface People {
  readonly people: ReadonlyArray<number>
  readonly isOfStep?: (row: UsageRow) => boolean
}

/** Rows of a series, from a slot to another, which is not in it. */
interface SlotRange {
  readonly series: number
  readonly from_slot: number
  readonly to_slot: number
}

const slotTypes = { series: "smallint", from_slot: "integer", to_slot: "integer" } as const

/** The rows that make up ranges of time, and what is left at their ends. */
const slotsIn = (query: UsageQuery, time: LocalTime, ranges: ReadonlyArray<TimeRanges.TimeRange>) => {
  const series: Partial<Record<Series.Unit, number>> = Series.ofTimes[Series.detailOf(query)]
  const largest = slotsOf[largestUnitOf(query, time, ranges)]
  const units = (Object.keys(slotsOf) as ReadonlyArray<Series.Unit>)
    .filter((unit) => series[unit] !== undefined && slotsOf[unit] <= largest)
    .map((unit) => [unit, slotMs * slotsOf[unit]] as const)
  const days = query.groupBy.includes("day") && !time.isUtc ? ranges.flatMap((range) => time.daysIn(range)) : ranges
  const split = days.map((day) => TimeRanges.split(day, units))
  const slots = split.flatMap((part) =>
    part.units.flatMap(({ ranges: ofUnit, unit }) =>
      ofUnit.map(({ fromMs, toMs }): SlotRange => ({
        series: series[unit]!,
        from_slot: fromMs / slotMs,
        to_slot: toMs / slotMs
      }))
    )
  )
  return { slots, ends: split.flatMap(({ ends }) => ends) }
}

/** The times of a query. */
const rangeOf = ({ fromMs = 0, toMs = endMs }: UsageQuery): TimeRanges.TimeRange => ({
  fromMs: Math.max(0, fromMs),
  toMs: Math.min(toMs, endMs)
})

const isIn =
  (ranges: ReadonlyArray<TimeRanges.TimeRange>) =>
  ({ atMs }: CountedEvent.CountedEvent): boolean =>
    ranges.some(({ fromMs, toMs }) => atMs >= fromMs && atMs < toMs)

/** Whether a row is looked for. */
export const matcherOf = ({ api }: UsageQuery, filter: SessionParts.PartFilter): ((row: UsageRow) => boolean) => {
  const wanted = api === undefined ? undefined : ProviderNames.apiCodes[api]
  return (row) => (wanted === undefined || row.api === wanted) && SessionParts.isMatch(filter, row)
}

export const make = (sql: SqlClient.SqlClient) => {
  const events = CountedEvents.make(sql).intact
  const positions = Position.make(sql)
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
      from_slot: (Math.floor(range.fromMs / weekMs) * weekMs) / slotMs,
      to_slot: Math.ceil(range.toMs / slotMs)
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

  /** Calls `use` with the events of a range that rows up to a position do not have: those at its ends, and those above the position. */
  const forEachEvent = Effect.fnUntraced(function* (
    project_id: number,
    range: TimeRanges.TimeRange,
    ends: ReadonlyArray<TimeRanges.TimeRange>,
    { last }: Position.Position,
    use: (event: CountedEvent.CountedEvent) => void
  ) {
    for (const end of ends) yield* events.forEachDuring(project_id, end, { upTo: last }, use)
    yield* events.forEachDuring(project_id, range, { above: last }, use)
  })

  type ForEachOther = typeof forEachEvent

  /** The same for several steps over one range: reads the events once, if they are not too many. */
  const forEachOnce = () => {
    let kept: { readonly from: EventId; readonly events: Array<CountedEvent.CountedEvent> } | undefined
    let areKept = true
    const forEachOther: ForEachOther = Effect.fnUntraced(function* (project_id, range, ends, position, use) {
      if (kept === undefined || position.last < kept.from) {
        const read: Array<CountedEvent.CountedEvent> = []
        kept = { from: position.last, events: read }
        return yield* forEachEvent(project_id, range, ends, position, (event) => {
          use(event)
          areKept &&= read.length < maxKept
          if (areKept) read.push(event)
        })
      }
      const isOfEnds = isIn(ends)
      for (const event of kept.events) if (event.id > position.last || isOfEnds(event)) use(event)
    })
    return { forEachOther, areKept: () => areKept }
  }

  /** Calls `add` with the rows and events of some people that match, or of all people together. */
  const addStep = Effect.fnUntraced(function* <Step extends People>(
    project_id: number,
    query: UsageQuery,
    time: LocalTime,
    range: TimeRanges.TimeRange,
    filter: SessionParts.PartFilter,
    add: AddUsage,
    readStep: Effect.Effect<Step, SqlError.SqlError>,
    forEachOther: ForEachOther
  ) {
    const isOfLocalTimes = !time.isUtc && (query.groupBy.includes("day") || query.groupBy.includes("hour"))
    const step = yield* positions.unchanged(
      project_id,
      Effect.fnUntraced(function* (position) {
        const ranges = isOfLocalTimes ? yield* rangesWithRows(project_id, range) : [range]
        const { ends, slots } = slotsIn(query, time, ranges)
        const read = yield* readStep
        const rows = yield* readRollups(project_id, slots, read.people, filter)
        return { ...read, ends, position, rows }
      })
    )
    const isOfQuery = matcherOf(query, filter)
    const isMatch = (row: UsageRow) => (step.isOfStep?.(row) ?? true) && isOfQuery(row)
    // All at once: a range of some years has 10,000s of rows.
    yield* Damages.readable(() => {
      for (const row of step.rows) if (isMatch(row)) add(row, (sums) => sums.merge(row.tally))
    })
    // What is added to the rows meanwhile is above the position of those that were read.
    yield* forEachOther(project_id, range, step.ends, step.position, (event) => {
      if (isMatch(event)) add(event, (sums) => sums.add(event))
    })
    return step
  })

  /** Calls `add` with every row and event of a query that matches. */
  const addAll = Effect.fnUntraced(function* (
    project_id: number,
    query: UsageQuery,
    time: LocalTime,
    filter: SessionParts.PartFilter,
    add: AddUsage
  ): Effect.fn.Return<void, SqlError.SqlError> {
    const range = rangeOf(query)
    if (TimeRanges.isEmpty(range)) return
    yield* addStep(
      project_id,
      query,
      time,
      range,
      filter,
      add,
      Effect.succeed({ people: [filter.person ?? 0] }),
      forEachEvent
    )
  })

  /**
   * The same of the people after a number, in the order of their numbers, some at a time, until `isFull` or after `maxPeople`. Returns
   * the last person whom it has looked at, if there may be more.
   */
  const addPeople = Effect.fnUntraced(function* (
    project_id: number,
    query: UsageQuery,
    time: LocalTime,
    filter: SessionParts.PartFilter,
    after: number,
    add: AddUsage,
    isFull: () => boolean
  ): Effect.fn.Return<number | undefined, SqlError.SqlError> {
    const range = rangeOf(query)
    if (TimeRanges.isEmpty(range)) return undefined
    const { areKept, forEachOther } = forEachOnce()
    // One more than the page has shows whether there is another page.
    const limit = query.groupBy.length === 1 ? query.limit + 1 : peopleStep
    let from = after
    for (let looked = 0; looked < maxPeople; looked += limit) {
      const readStep = Effect.map(readPeople(project_id, from, limit), (people) => {
        const to = people.length < limit ? Number.POSITIVE_INFINITY : people.at(-1)!
        return { people, to, isOfStep: ({ person }: UsageRow) => person > from && person <= to }
      })
      const { to } = yield* addStep(project_id, query, time, range, filter, add, readStep, forEachOther)
      if (to === Number.POSITIVE_INFINITY) return undefined
      from = to
      if (isFull() || !areKept()) return from
    }
    return from
  })

  return { addAll, addPeople }
}

/** People of whom one step reads what they did, and whom one page looks at, about. */
const peopleStep = 50
const maxPeople = 2_000

/** Events that are not in the rows, and that are kept from step to step. With more of them, a page ends after a step. */
const maxKept = 20_000
