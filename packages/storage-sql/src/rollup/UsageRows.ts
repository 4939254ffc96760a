/** What is added up for a range of time: rows of the rollups, and the events that these do not have yet. */
import {
  type EventId,
  EventTime,
  firstIdOf,
  type LocalTime,
  SessionParts,
  type Tally,
  TimeRanges,
  type UsageQuery,
  Uuid
} from "@tachograph/core"
import * as ProviderNames from "@tachograph/core/domain/ProviderNames"
import { Effect } from "effect"
import type { SqlClient, SqlError, Statement } from "effect/sql"
import * as UuidColumn from "../dialect/UuidColumn.ts"
import * as CountedEvents from "./CountedEvents.ts"
import * as Position from "./Position.ts"
import * as Rollups from "./Rollups.ts"

/** An event, or a row of events that have all of this in common. */
export interface UsageRow extends CountedEvents.CountedBy {
  readonly atMs: number
}

/** Adds a row to sums. */
export type AddUsage = (row: UsageRow, addTo: (sums: Tally) => void) => void

const { slotMs, slotsOf } = Rollups

const unitMs = { quarter: slotMs, hour: slotMs * slotsOf.hour, day: slotMs * slotsOf.day } as const

type Unit = keyof typeof unitMs

/** The latest time that has a slot in a column of 31 bits. Ids of later events are damaged, or made up. */
const maxMs = (2 ** 31 - slotsOf.day) * slotMs

/** The units whose rows can be grouped: days of other zones than UTC are not those of UTC, and only quarters say who. */
const unitsOf = (
  { groupBy, person }: UsageQuery,
  time: LocalTime,
  { fromMs, toMs }: TimeRanges.TimeRange
): ReadonlyArray<Unit> => {
  if (person !== undefined || groupBy.includes("person")) return ["quarter"]
  if (!groupBy.includes("day") && !groupBy.includes("hour")) return ["quarter", "hour", "day"]
  if (!time.hasWholeHours(fromMs, toMs)) return ["quarter"]
  return time.isUtc && !groupBy.includes("hour") ? ["quarter", "hour", "day"] : ["quarter", "hour"]
}

/** The ids of a range of time. */
const idsOf = ({ fromMs, toMs }: TimeRanges.TimeRange): CountedEvents.IdRange => ({
  above: Uuid.previous(firstIdOf(fromMs)),
  upTo: Uuid.previous(firstIdOf(toMs))
})

/** Whether a row is looked for. */
export const matcherOf = ({ api }: UsageQuery, filter: SessionParts.PartFilter): ((row: UsageRow) => boolean) => {
  const wanted = api === undefined ? undefined : ProviderNames.apis.indexOf(api)
  return (row) => (wanted === undefined || row.api === wanted) && SessionParts.isMatch(filter, row)
}

export const make = (sql: SqlClient.SqlClient) => {
  const events = CountedEvents.make(sql)
  const rollups = Rollups.make(sql)

  /** The times of a query in which there are events; undefined if there are none. */
  const rangeOf = Effect.fnUntraced(function* (
    project_id: number,
    { fromMs = 0, toMs = maxMs }: Pick<UsageQuery, "fromMs" | "toMs">
  ) {
    const end = (order: string) =>
      sql<{ event_id: UuidColumn.StoredId }>`SELECT event_id FROM events WHERE project_id = ${project_id}
        ORDER BY event_id ${sql.literal(order)} LIMIT 1`
    const [first] = yield* end("ASC")
    const [last] = yield* end("DESC")
    if (first === undefined || last === undefined) return undefined
    // There is nothing in the rest of the first day and of the last one, so that they need not be split.
    const timeOf = (row: { readonly event_id: UuidColumn.StoredId }) =>
      EventTime.of(UuidColumn.decode(row.event_id) as EventId)
    const firstDay = Math.floor(timeOf(first) / unitMs.day)
    const lastDay = Math.floor(timeOf(last) / unitMs.day)
    const range = {
      fromMs: Math.max(fromMs, firstDay * unitMs.day),
      toMs: Math.min(toMs, (lastDay + 1) * unitMs.day, maxMs)
    }
    return TimeRanges.isEmpty(range) ? undefined : range
  })

  /** The position, and the rows of a range: one statement, so that they are of one moment. */
  const readRollups = (
    project_id: number,
    units: ReadonlyArray<TimeRanges.UnitRanges<Unit>>,
    filter: SessionParts.PartFilter
  ) => {
    const select = (...where: ReadonlyArray<Statement.Fragment>) =>
      sql`SELECT ${Rollups.selected(sql)} FROM rollups WHERE ${rollups.ofProject(project_id)} AND ${sql.and(where)}`
    const names: Array<Statement.Fragment> = []
    if (filter.agent !== undefined) names.push(sql`agent_number = ${filter.agent}`)
    if (filter.person !== undefined) names.push(sql`person_number = ${filter.person}`)
    const ofUnits = units.flatMap(({ ranges, unit }) =>
      ranges.map(({ fromMs, toMs }) =>
        select(
          sql`series = ${Rollups.series[unit]}`,
          sql`slot >= ${fromMs / slotMs}`,
          sql`slot < ${toMs / slotMs}`,
          ...names
        )
      )
    )
    const position = select(sql`series = ${Rollups.series.position}`)
    return sql<Rollups.Row>`${sql.join(" UNION ALL ", false)([position, ...ofUnits])}`
  }

  /** Calls `add` with every row and event of a query that matches. */
  const addAll = Effect.fnUntraced(function* (
    project_id: number,
    query: UsageQuery,
    time: LocalTime,
    filter: SessionParts.PartFilter,
    add: AddUsage
  ): Effect.fn.Return<void, SqlError.SqlError> {
    const range = yield* rangeOf(project_id, query)
    if (range === undefined) return
    const isMatch = matcherOf(query, filter)
    const { ends, units } = TimeRanges.split(
      range,
      unitsOf(query, time, range).map((unit) => [unit, unitMs[unit]] as const)
    )
    const rows = yield* readRollups(project_id, units, filter)
    const isPosition = (row: Rollups.Row) => Number(row.series) === Rollups.series.position
    const { last } = yield* Rollups.readable(() => Position.of(rows.find(isPosition)))
    // All at once: a range of some years has 100,000s of rows.
    yield* Rollups.readable(() => {
      for (const row of rows) {
        if (isPosition(row)) continue
        const rollup = Rollups.of(row)
        if (isMatch(rollup)) add(rollup, (sums) => sums.merge(rollup.tally))
      }
    })
    const addEvent = (event: CountedEvents.CountedEvent) => {
      if (isMatch(event)) add(event, (sums) => sums.add(event))
    }
    for (const end of ends) yield* events.forEach(project_id, idsOf(end), addEvent)
    // What was added to the rows since they were read is above the position that was read with them.
    const { above, upTo } = idsOf(range)
    yield* events.forEach(project_id, { above: last > above! ? last : above, upTo }, (event) => {
      if (!ends.some(({ fromMs, toMs }) => event.atMs >= fromMs && event.atMs < toMs)) addEvent(event)
    })
  })

  return { addAll }
}
