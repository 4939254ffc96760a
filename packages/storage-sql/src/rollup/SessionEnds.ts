/** The first and the last call that are left to a row of a session, after others of its events were erased. */
import { CallTime, type EventId, EventTime, Peaks, SessionParts } from "@tachograph/core"
import * as Effect from "effect/Effect"
import type { SqlClient, SqlError, Statement } from "effect/sql"
import * as Bucket from "../dialect/Bucket.ts"
import * as EventIndex from "../dialect/EventIndex.ts"
import type { Integer } from "../sql/RowDecoding.ts"
import * as CountedEvent from "./CountedEvent.ts"
import * as Rollups from "./Rollups.ts"

/** Events of a session that one statement reads. */
const step = 500

type Ends = SessionParts.Ends

type Row = CountedEvent.Row & { readonly distant_at?: Integer }

type ToCounted = (
  project_id: number,
  rows: ReadonlyArray<CountedEvent.Row>
) => Effect.Effect<ReadonlyArray<CountedEvent.CountedEvent>, SqlError.SqlError>

/** Calls `use` with the events of a row, in steps, until it returns true. */
const searcherOf = (sql: SqlClient.SqlClient, toCounted: ToCounted) =>
  Effect.fnUntraced(function* (
    project_id: number,
    { agent, agentVersion, api, model, person, responseModel, session }: Rollups.Rollup,
    statementAfter: (row: Row | undefined, ofAgent: Statement.Fragment) => Statement.Fragment,
    use: (ofRow: ReadonlyArray<CountedEvent.CountedEvent>, end: CountedEvent.CountedEvent) => boolean
  ): Effect.fn.Return<void, SqlError.SqlError> {
    const isOfRow = (event: CountedEvent.CountedEvent) =>
      event.agentVersion === agentVersion &&
      event.person === person &&
      event.api === api &&
      event.model === model &&
      event.responseModel === responseModel
    const ofAgent = sql`project_id = ${project_id} AND session_number = ${session} AND agent_number = ${agent}
    ${Bucket.and(sql, Bucket.ofNumber(session))}`
    for (let after: Row | undefined; ;) {
      const rows = yield* sql<Row>`${statementAfter(after, ofAgent)} LIMIT ${step}`
      const events = yield* toCounted(project_id, rows)
      if (rows.length === 0 || use(events.filter(isOfRow), events.at(-1)!) || rows.length < step) return
      after = rows.at(-1)!
    }
  })

export const make = (sql: SqlClient.SqlClient, toCounted: ToCounted) => {
  const nothing = sql.literal("")

  const search = searcherOf(sql, toCounted)

  /** The first or the last calls, by their times and by their ids. */
  const endOf = Effect.fnUntraced(function* (project_id: number, rollup: Rollups.Rollup, order: EventIndex.Order) {
    const isAfter = sql.literal(order === "asc" ? ">" : "<")
    const columns = CountedEvent.selected(sql)
    let found: Ends | undefined
    const add = (events: ReadonlyArray<CountedEvent.CountedEvent>) => {
      for (const event of events) found = SessionParts.joined(found, SessionParts.endsOf(event))
    }
    yield* search(
      project_id,
      rollup,
      (after, ofAgent) => sql`SELECT ${columns}, distant_at FROM events WHERE ${ofAgent} AND distant_at IS NOT NULL
        ${after === undefined ? nothing : sql`AND (distant_at, event_id) ${isAfter} (${after.distant_at!}, ${after.event_id})`}
        ORDER BY distant_at ${sql.literal(order)}, event_id ${sql.literal(order)}`,
      (events) => {
        add(events.slice(0, 1))
        return events.length > 0
      }
    )
    let last: EventId | undefined
    // The others were recorded near their calls: not those that were recorded long before or after the call that was found.
    const isBehind = (ms: number) =>
      order === "asc"
        ? found !== undefined && ms > found.firstMs + CallTime.nearMs
        : last !== undefined && ms < found!.lastMs - CallTime.nearMs
    yield* search(
      project_id,
      rollup,
      (
        after,
        ofAgent
      ) => sql`SELECT ${columns} FROM events ${EventIndex.hint(sql, "events_by_session")} WHERE ${ofAgent}
        ${after === undefined ? nothing : sql`AND event_id ${isAfter} ${after.event_id}`}
        ORDER BY event_id ${EventIndex.direction(sql, order)}`,
      (events, end) => {
        add(events)
        last ??= events[0]?.id
        return isBehind(EventTime.of(end.id))
      }
    )
    return found
  })

  /** The largest figures of the calls that are left to a row. */
  const peaksOf = Effect.fnUntraced(function* (project_id: number, rollup: Rollups.Rollup) {
    const columns = CountedEvent.selected(sql)
    let found = Peaks.none
    yield* search(
      project_id,
      rollup,
      (after, ofAgent) => sql`SELECT ${columns} FROM events ${EventIndex.hint(sql, "events_by_session")}
        WHERE ${ofAgent} ${after === undefined ? nothing : sql`AND event_id > ${after.event_id}`}
        ORDER BY event_id ${EventIndex.direction(sql, "asc")}`,
      (events) => {
        for (const event of events) found = Peaks.joined(found, Peaks.of(event))
        return false
      }
    )
    return found
  })

  /** The ends of a row, of which the erased events were the first or the last ones. Undefined if no event is left. */
  const left = Effect.fnUntraced(function* (
    project_id: number,
    rollup: Rollups.Rollup,
    isFirstErased: boolean,
    isLastErased: boolean,
    erased: Peaks.Peaks
  ): Effect.fn.Return<Ends | undefined, SqlError.SqlError> {
    const ends = Rollups.endsOf(rollup)
    const first = isFirstErased ? yield* endOf(project_id, rollup, "asc") : ends
    const last = isLastErased ? yield* endOf(project_id, rollup, "desc") : ends
    if (ends === undefined || first === undefined || last === undefined) return undefined
    const peaks = Peaks.isReached(ends.peaks, erased) ? yield* peaksOf(project_id, rollup) : ends.peaks
    return { ...first, last: last.last, lastMs: last.lastMs, peaks }
  })

  return { left }
}
