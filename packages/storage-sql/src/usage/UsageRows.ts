/** What is added up for a range of time: rows of the rollups, and the events that these do not have yet. */
import { CallTime, type LocalTime, SessionParts, type Tally, TimeRanges, type UsageQuery } from "@tachograph/core"
import * as ProviderNames from "@tachograph/core/domain/ProviderNames"
import * as Effect from "effect/Effect"
import type { SqlClient, SqlError } from "effect/sql"
import type * as CountedEvent from "../rollup/CountedEvent.ts"
import * as RollupPosition from "../rollup/RollupPosition.ts"
import * as Damages from "../rollup/Damages.ts"
import * as Series from "../rollup/Series.ts"
import * as EventsBeside from "./EventsBeside.ts"
import * as RollupQueries from "./RollupQueries.ts"

/** An event, or a row of events that have all of this in common. */
export interface UsageRow extends CountedEvent.CountedBy {
  readonly atMs: number
}

/** Adds a row to sums. */
export type AddUsage = (row: UsageRow, addTo: (sums: Tally) => void) => void

const { slotMs, slotsOf } = Series

/** The end of the last week that has calls. */
const endMs = Math.ceil(CallTime.endMs / RollupQueries.weekMs) * RollupQueries.weekMs

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

/** What is added up: the names of a query are numbers here. */
export interface Asked {
  readonly project_id: number
  readonly query: UsageQuery
  readonly time: LocalTime
  readonly filter: SessionParts.PartFilter
  /** Only of these people, 0 for calls without a person. Undefined for all. */
  readonly people?: ReadonlySet<number> | undefined
}

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
      ofUnit.map(({ fromMs, toMs }): RollupQueries.SlotRange => ({
        series: series[unit]!,
        from_slot: fromMs / slotMs,
        to_slot: toMs / slotMs
      }))
    )
  )
  return { slots, ends: split.flatMap(({ ends }) => ends) }
}

/** The times of a query. */
export const rangeOf = ({ fromMs = 0, toMs = endMs }: UsageQuery): TimeRanges.TimeRange => ({
  fromMs: Math.max(0, fromMs),
  toMs: Math.min(toMs, endMs)
})

/** Whether a row is looked for. */
export const matcherOf = (
  { api }: UsageQuery,
  filter: SessionParts.PartFilter,
  people: ReadonlySet<number> | undefined
): ((row: Omit<UsageRow, "atMs">) => boolean) => {
  const wanted = api === undefined ? undefined : ProviderNames.apiCodes[api]
  return (row) =>
    (wanted === undefined || row.api === wanted) &&
    (people === undefined || people.has(row.person)) &&
    SessionParts.isMatch(filter, row)
}

export const make = (sql: SqlClient.SqlClient) => {
  const positions = RollupPosition.make(sql)
  const { rangesWithRows, readPeople, readRollups } = RollupQueries.make(sql)
  const { forEachEvent, forEachOnce } = EventsBeside.make(sql)

  /** Calls `add` with the rows and events of some people that match, or of all people together. */
  const addStep = Effect.fnUntraced(function* <Step extends People>(
    { filter, people, project_id, query, time }: Asked,
    range: TimeRanges.TimeRange,
    add: AddUsage,
    readStep: Effect.Effect<Step, SqlError.SqlError>,
    forEachOther: EventsBeside.ForEachEvent
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
    const isOfQuery = matcherOf(query, filter, people)
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

  /** Calls `add` with every row and event that matches. */
  const addAll = Effect.fnUntraced(function* (asked: Asked, add: AddUsage): Effect.fn.Return<void, SqlError.SqlError> {
    const range = rangeOf(asked.query)
    if (TimeRanges.isEmpty(range)) return
    const people = asked.people === undefined ? [asked.filter.person ?? 0] : Array.from(asked.people)
    yield* addStep(asked, range, add, Effect.succeed({ people }), forEachEvent)
  })

  /**
   * The same of the people after a number, in the order of their numbers, some at a time, until `isFull` or after `maxPeople`. Returns
   * the last person whom it has looked at, if there may be more.
   */
  const addPeople = Effect.fnUntraced(function* (
    asked: Asked,
    after: number,
    add: AddUsage,
    isFull: () => boolean = () => false
  ): Effect.fn.Return<number | undefined, SqlError.SqlError> {
    const { project_id, query } = asked
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
      const { to } = yield* addStep(asked, range, add, readStep, forEachOther)
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
