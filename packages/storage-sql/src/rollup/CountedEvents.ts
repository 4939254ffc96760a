/** Reads the events that are added up. */
import { CallTime, Damage, type EventId, EventTime, type ProjectId, Uuid } from "@tachograph/core"
import * as Effect from "effect/Effect"
import type { SqlClient, SqlError, Statement } from "effect/sql"
import * as Bucket from "../dialect/Bucket.ts"
import * as BulkValues from "../dialect/BulkValues.ts"
import * as CallTimes from "../dialect/CallTimes.ts"
import * as EventIndex from "../dialect/EventIndex.ts"
import * as UuidColumn from "../dialect/UuidColumn.ts"
import * as EventColumns from "../sql/EventColumns.ts"
import type { Integer } from "../sql/RowDecoding.ts"
import * as SummaryReader from "../sql/SummaryReader.ts"
import * as Damages from "./Damages.ts"
import { type CountedEvent, type CountedKind, columns, of, type Row } from "./CountedEvent.ts"

/** Events that one statement reads. */
const pageSize = 2_000

const maxCachedKinds = 10_000

/** Of an event whose kind is gone by damage. */
const noKind: CountedKind = { api: 0, unpricedParts: null }

/** A range of ids. */
export interface IdRange {
  /** Greater than this one. */
  readonly above?: EventId | undefined
  /** Up to this one. */
  readonly upTo?: EventId | undefined
  /** Which of them. */
  readonly condition?: Statement.Fragment
  /** The index that has them in the order of their ids, if not the primary key. */
  readonly index?: EventIndex.EventIndex
}

const lowest = (a: EventId | undefined, b: EventId | undefined) =>
  a === undefined || (b !== undefined && b < a) ? b : a
const highest = (a: EventId | undefined, b: EventId | undefined) =>
  a === undefined || (b !== undefined && b > a) ? b : a

/** The ids of a range that are within an hour of times. */
const nearIds = (times: CallTimes.Times, { above, upTo }: IdRange): IdRange => {
  const near = CallTimes.nearIds(times)
  return { above: highest(above, near.above), upTo: lowest(upTo, near.below && Uuid.previous(near.below)) }
}

/** Whether the time of a call leads to its event's id. */
const isNear = ({ atMs, id }: CountedEvent): boolean => Math.abs(atMs - EventTime.of(id)) <= CallTime.nearMs

/** Which events to read. Fragments are of the table `events e`. */
interface Find {
  readonly where: Statement.Fragment
  readonly order: Statement.Fragment
  readonly limit?: number
  /** Follows the table's name. */
  readonly hint?: Statement.Fragment
  /** The bucket of all of them, if they have the same. */
  readonly bucket?: number
}

export const make = (sql: SqlClient.SqlClient) => {
  const toStored = UuidColumn.encoder(sql)
  const { fields, isIntact, joins } = SummaryReader.make(sql)
  const nothing = sql.literal("")
  const selectedOfEvent = sql.literal(columns.map((column) => `e.${column}`).join(", "))

  /** The names of projects, which do not change. */
  const projects = new Map<number, ProjectId>()

  /** By the kinds of a project. Rows of kinds are only ever added. */
  const kinds = new Map<string, CountedKind>()
  const { unpricedParts } = EventColumns.kindFields(sql)

  const toCounted = Effect.fnUntraced(function* (
    project_id: number,
    rows: ReadonlyArray<Row>
  ): Effect.fn.Return<ReadonlyArray<CountedEvent>, SqlError.SqlError> {
    const nameOf = (kind: Integer) => `${project_id} ${kind}`
    const unknown = new Set(rows.map(({ kind_number }) => kind_number).filter((kind) => !kinds.has(nameOf(kind))))
    if (kinds.size > maxCachedKinds) kinds.clear()
    for (const chunk of BulkValues.chunks(Array.from(unknown))) {
      const found = yield* sql<{ kind_number: Integer; api: Integer; unpriced_parts: Integer | null }>`
        SELECT kind_number, api, unpriced_parts FROM event_kinds
        WHERE project_id = ${project_id} AND ${BulkValues.isAmong(sql, "kind_number", "integer", chunk)}`
      for (const { api, kind_number, unpriced_parts } of found) {
        kinds.set(nameOf(kind_number), {
          api: Number(api),
          unpricedParts: unpricedParts.decode(unpriced_parts, EventColumns.alone)
        })
      }
    }
    return rows.map((row) => of(row, kinds.get(nameOf(row.kind_number)) ?? noKind))
  })

  /** Follows a condition. */
  const within = ({ above, condition, upTo }: IdRange) => {
    const isAbove = above === undefined ? nothing : sql` AND e.event_id > ${toStored(above)}`
    const isUpTo = upTo === undefined ? nothing : sql` AND e.event_id <= ${toStored(upTo)}`
    return condition === undefined ? sql`${isAbove}${isUpTo}` : sql`${isAbove}${isUpTo} AND ${condition}`
  }

  const projectOf = Effect.fnUntraced(function* (project_id: number) {
    const known = projects.get(project_id)
    if (known !== undefined) return known
    const [row] = yield* sql<{ project_name: ProjectId }>`SELECT project_name FROM projects
      WHERE project_id = ${project_id}`
    if (row !== undefined) projects.set(project_id, row.project_name)
    return row?.project_name
  })

  const rowsOf = ({ hint = nothing, where }: Find, columns: Statement.Fragment, joined = nothing) =>
    sql`SELECT ${columns} FROM events e ${hint} ${joined} WHERE ${where}`

  const ending = ({ limit, order }: Find) =>
    limit === undefined ? sql`ORDER BY ${order}` : sql`ORDER BY ${order} LIMIT ${limit}`

  /** As they are, damaged or not. */
  const readAny = (project_id: number, find: Find) =>
    Effect.flatMap(sql<Row>`${rowsOf(find, selectedOfEvent)} ${ending(find)}`, (rows) => toCounted(project_id, rows))

  /** With the fields of summaries. */
  const wholeRowsOf = (find: Find) => {
    const all = sql`${fields}, ${selectedOfEvent}`
    // A node joins its own rows. A page of the rows of several nodes would be joined with all sessions of the project.
    if (Bucket.isDistributed(sql) && find.bucket === undefined)
      return sql`${rowsOf(find, all, joins())} ${ending(find)}`
    // An index leads to the page before anything is joined, whatever the planner expects.
    const ofPage = find.limit === undefined ? nothing : ending(find)
    return sql`SELECT ${all} FROM (${rowsOf(find, sql.literal("e.*"))} ${ofPage}) AS e ${joins(find.bucket)}
      ORDER BY ${find.order}`
  }

  /** Fails if a field of one of them is not what was recorded. */
  const readIntact = Effect.fnUntraced(function* (project_id: number, find: Find) {
    const project = yield* projectOf(project_id)
    const rows = yield* sql<Row & SummaryReader.EventRow>`${wholeRowsOf(find)}`
    yield* Damages.readable(() => {
      for (const row of rows) {
        if (project === undefined || !isIntact(project, row)) {
          throw new Damage(`The checksum of the fields of event ${UuidColumn.decode(row.event_id)} differs`)
        }
      }
    })
    return yield* toCounted(project_id, rows)
  })

  const readersBy = (read: typeof readAny) => {
    const page = (project_id: number, range: IdRange, limit: number) =>
      read(project_id, {
        where: sql`e.project_id = ${project_id}${within(range)}`,
        order:
          range.index === undefined ? sql.literal("e.event_id") : sql`e.event_id ${EventIndex.direction(sql, "asc")}`,
        limit,
        ...(range.index !== undefined && { hint: EventIndex.hint(sql, range.index) })
      })

    /** Calls `use` with each event of a range, in the order of their ids. Returns false after about `maxEvents` if there are more. */
    const forEach = Effect.fnUntraced(function* (
      project_id: number,
      range: IdRange,
      use: (event: CountedEvent) => void,
      maxEvents = Number.POSITIVE_INFINITY
    ): Effect.fn.Return<boolean, SqlError.SqlError> {
      let used = 0
      for (let above = range.above; ;) {
        const events = yield* page(project_id, { ...range, above }, pageSize)
        events.forEach(use)
        if (events.length < pageSize) return true
        used += events.length
        if (used >= maxEvents) return false
        above = events.at(-1)!.id
        // Cancelled, if the client goes, and others run, where the database answers at once.
        yield* Effect.yieldNow
      }
    })

    /** Calls `use` with the events up to an id that the index by distant times has, in its order. */
    const forEachDistant = Effect.fnUntraced(function* (
      project_id: number,
      times: CallTimes.Times,
      upTo: EventId,
      use: (event: CountedEvent) => void
    ): Effect.fn.Return<void, SqlError.SqlError> {
      for (let after = nothing; ;) {
        const events = yield* read(project_id, {
          where: sql`e.project_id = ${project_id} AND ${CallTimes.isDistantDuring(sql, times)}${within({ upTo })}${after}`,
          order: sql.literal("e.distant_at, e.event_id"),
          limit: pageSize
        })
        events.forEach(use)
        if (events.length < pageSize) return
        const { distantMs, id } = events.at(-1)!
        after = sql` AND (e.distant_at, e.event_id) > (${distantMs}, ${toStored(id)})`
        yield* Effect.yieldNow
      }
    })

    /** Calls `use` with each event up to an id, or above it, whose call took place at a time. */
    const forEachDuring = Effect.fnUntraced(function* (
      project_id: number,
      times: CallTimes.Times,
      ids: { readonly above: EventId } | { readonly upTo: EventId },
      use: (event: CountedEvent) => void
    ): Effect.fn.Return<void, SqlError.SqlError> {
      const near = { ...nearIds(times, ids), condition: CallTimes.isDuring(sql, times) }
      yield* forEach(project_id, near, (event) => {
        if (isNear(event)) use(event)
      })
      const useDistant = (event: CountedEvent) => {
        if (!isNear(event)) use(event)
      }
      if ("upTo" in ids) return yield* forEachDistant(project_id, times, ids.upTo, useDistant)
      const condition = CallTimes.isDistantDuring(sql, times)
      yield* forEach(project_id, { ...ids, condition, index: "events_by_distant_id" }, useDistant)
    })

    /** Calls `use` with each event of a session in a range, agent by agent. */
    const forEachOf = Effect.fnUntraced(function* (
      project_id: number,
      session: number,
      range: IdRange,
      use: (event: CountedEvent) => void
    ): Effect.fn.Return<void, SqlError.SqlError> {
      const bucket = Bucket.ofNumber(session)
      const ofSession = sql`e.project_id = ${project_id} AND e.session_number = ${session}
        ${Bucket.and(sql, bucket, "e.")}`
      const agents = yield* sql<{ agent_number: Integer }>`SELECT agent_number FROM storage_usage e
        WHERE ${ofSession}`
      for (const { agent_number } of agents) {
        for (let above = range.above; ;) {
          const events = yield* read(project_id, {
            where: sql`${ofSession} AND e.agent_number = ${agent_number}${within({ ...range, above })}`,
            order: sql`e.event_id ${EventIndex.direction(sql, "asc")}`,
            limit: pageSize,
            hint: EventIndex.hint(sql, "events_by_session"),
            bucket
          })
          events.forEach(use)
          if (events.length < pageSize) break
          above = events.at(-1)!.id
          yield* Effect.yieldNow
        }
      }
    })

    return { page, forEach, forEachDuring, forEachOf, read }
  }

  return { ...readersBy(readAny), intact: readersBy(readIntact), toCounted }
}
