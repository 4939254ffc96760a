/** Reads the events that the rows of rollups do not have: those at the ends of ranges, and those that are not derived yet. */
import type { EventId, TimeRanges } from "@tachograph/core"
import * as Effect from "effect/Effect"
import type { SqlClient } from "effect/sql"
import type * as CountedEvent from "../rollup/CountedEvent.ts"
import * as CountedEvents from "../rollup/CountedEvents.ts"
import type * as RollupPosition from "../rollup/RollupPosition.ts"

/** Events that are not in the rows, and that are kept from step to step. With more of them, a page ends after a step. */
const maxKept = 20_000

const isIn =
  (ranges: ReadonlyArray<TimeRanges.TimeRange>) =>
  ({ atMs }: CountedEvent.CountedEvent): boolean =>
    ranges.some(({ fromMs, toMs }) => atMs >= fromMs && atMs < toMs)

export const make = (sql: SqlClient.SqlClient) => {
  const events = CountedEvents.make(sql).intact

  /** Calls `use` with the events of a range that rows up to a position do not have: those at its ends, and those above the position. */
  const forEachEvent = Effect.fnUntraced(function* (
    project_id: number,
    range: TimeRanges.TimeRange,
    ends: ReadonlyArray<TimeRanges.TimeRange>,
    { last }: RollupPosition.RollupPosition,
    use: (event: CountedEvent.CountedEvent) => void
  ) {
    for (const end of ends) yield* events.forEachDuring(project_id, end, { upTo: last }, use)
    yield* events.forEachDuring(project_id, range, { above: last }, use)
  })

  /** The same for several steps over one range: reads the events once, if they are not too many. */
  const forEachOnce = () => {
    let kept: { readonly from: EventId; readonly events: Array<CountedEvent.CountedEvent> } | undefined
    let areKept = true
    const forEachOther: typeof forEachEvent = Effect.fnUntraced(function* (project_id, range, ends, position, use) {
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

  return { forEachEvent, forEachOnce }
}

export type ForEachEvent = ReturnType<typeof make>["forEachEvent"]
