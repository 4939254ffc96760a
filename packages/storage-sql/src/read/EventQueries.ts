/** Reads events. */
import {
  Errors,
  type EventId,
  type EventPack,
  type EventQuery,
  type FieldFilter,
  JsonText,
  type ListPage,
  type ProjectId,
  type StoredSummary
} from "@tachograph/core"
import * as Effect from "effect/Effect"
import type { SqlClient, SqlError, Statement } from "effect/sql"
import * as Bucket from "../dialect/Bucket.ts"
import * as StoredBytes from "../dialect/StoredBytes.ts"
import * as UuidColumn from "../dialect/UuidColumn.ts"
import * as EventFilter from "../filter/EventFilter.ts"
import type * as FoundEvents from "../filter/FoundEvents.ts"
import type * as Projects from "../names/Projects.ts"
import * as Attempts from "../sql/Attempts.ts"
import * as SummaryReader from "../sql/SummaryReader.ts"
import type { Integer } from "../sql/RowDecoding.ts"
import * as EventPlaces from "./EventPlaces.ts"

interface PackRow {
  readonly session_number: Integer
  readonly pack_number: Integer
  readonly pack: Uint8Array | null
  /** Damage can make it a value of any type, which is not what its checksum says then. */
  readonly metadata: unknown
}

/** No value of a column is longer, in any database. */
const maxColumnBytes = 2 ** 31 - 1

const isBeyond = (id: EventId, { after, order }: EventQuery): boolean =>
  after === undefined || (order === "asc" ? id > after : id < after)

export const make = (sql: SqlClient.SqlClient, projects: Projects.Projects) => {
  const toStored = UuidColumn.encoder(sql)
  const filter = EventFilter.make(sql)
  const { fields, joins, toStored: toStoredSummary } = SummaryReader.make(sql)

  const getEvent = Effect.fn("SqlStorage.getEvent")(function* (
    project: ProjectId,
    id: EventId,
    maxPackBytes = maxColumnBytes
  ) {
    const number = yield* projects.find(project)
    const select = (ofBucket: Statement.Fragment) => sql<
      SummaryReader.EventRow & PackRow
    >`SELECT ${fields}, e.session_number, e.pack_number, e.metadata,
        CASE WHEN octet_length(k.pack) <= ${maxPackBytes} THEN ${StoredBytes.value(sql, "k.pack")} END AS pack
      FROM events e ${joins()} LEFT JOIN packs k ON k.project_id = e.project_id AND k.session_number = e.session_number
        AND k.pack_number = e.pack_number${Bucket.andSame(sql, "k", "e")}
      WHERE e.project_id = ${number} AND e.event_id = ${toStored(id)}${ofBucket}`
    let [row] = yield* select(Bucket.and(sql, Bucket.ofEvent(id), "e."))
    // An id that does not contain the bucket of its session: only this program makes those that do.
    if (row === undefined && Bucket.isDistributed(sql)) [row] = yield* select(sql.literal(""))
    if (row === undefined) return yield* new Errors.EventNotFound()
    const pack = { number: Number(row.pack_number), bytes: row.pack ?? undefined }
    const metadata = row.metadata === null ? null : JsonText.unsafe(String(row.metadata))
    return { ...toStoredSummary(row), metadata, session: Number(row.session_number), pack }
  })

  /** Undefined if an event was erased since it was found. */
  const readFound = Effect.fnUntraced(function* (found: FoundEvents.FoundEvents, query: EventQuery) {
    const ordered = sql`ORDER BY e.event_id ${sql.literal(query.order)}`
    const rows =
      found.where === undefined
        ? yield* sql<SummaryReader.EventRow>`SELECT ${fields} FROM (${found.rows}) AS e
            ${joins(query.session === undefined ? undefined : Bucket.ofSession(query.session))} ${ordered}`
        : yield* sql<SummaryReader.EventRow>`SELECT ${fields} FROM events e ${joins()} WHERE ${found.where}
            ${ordered} LIMIT ${query.limit}`
    // A page with fewer events would be taken for the last one.
    if (found.count !== undefined && rows.length !== found.count) return undefined
    const events = rows.map(toStoredSummary)
    // Clients would read this page again and again.
    if (events.some(({ id }) => !isBeyond(id, query))) return yield* Attempts.endless("A list of events")
    return events
  })

  const listEvents = Effect.fn("SqlStorage.listEvents")(function* (project: ProjectId, query: EventQuery) {
    const number = yield* projects.find(project)
    const attempt = Attempts.make("A list of events")
    for (;;) {
      const found = yield* filter.find(number, query)
      if (found === undefined) return []
      const events = yield* readFound(found, query)
      if (events !== undefined) return events
      yield* attempt
    }
  })

  const findEvents = Effect.fn("SqlStorage.findEvents")(function* (
    project: ProjectId,
    query: EventQuery,
    fields: FieldFilter,
    maxLooked: number
  ): Effect.fn.Return<ListPage<StoredSummary, EventId>, SqlError.SqlError> {
    const number = yield* projects.find(project)
    const attempt = Attempts.make("A list of events")
    for (;;) {
      const { found, next } = yield* filter.findFields(number, query, fields, maxLooked)
      const rows = found === undefined ? [] : yield* readFound(found, query)
      if (rows !== undefined) return { rows, next }
      yield* attempt
    }
  })

  const findPacks = Effect.fn("SqlStorage.findPacks")(function* (
    project: ProjectId,
    query: EventQuery,
    fields: FieldFilter,
    maxLooked: number
  ): Effect.fn.Return<ListPage<EventPack, EventId>, SqlError.SqlError> {
    const number = yield* projects.find(project)
    const isFound = Object.values(fields).some((value) => value !== undefined)
    const { found, next } = isFound
      ? yield* filter.findFields(number, query, fields, maxLooked)
      : { found: yield* filter.find(number, query), next: undefined }
    if (found === undefined) return { rows: [], next }
    const isWhere = found.where === undefined ? sql`` : sql`WHERE ${found.where}`
    const rows = yield* sql<EventPlaces.Row>`SELECT ${sql.literal(EventPlaces.columns)}
      FROM ${found.where === undefined ? sql`(${found.rows}) AS e` : sql`events e`} ${EventPlaces.join(sql)} ${isWhere}
      ORDER BY e.event_id ${sql.literal(query.order)} LIMIT ${query.limit}`
    const packs = rows.map(EventPlaces.toEventPack)
    if (packs.some(({ id }) => !isBeyond(id, query))) return yield* Attempts.endless("A list of events")
    // Where some were erased meanwhile, the page is shorter, and the next one goes on after the last.
    const isFull = (found.count ?? packs.length) >= query.limit
    return { rows: packs, next: isFound || !isFull ? next : packs.at(-1)?.id }
  })

  return { getEvent, listEvents, findEvents, findPacks }
}
