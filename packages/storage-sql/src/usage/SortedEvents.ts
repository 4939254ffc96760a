/**
 * Calls sorted by a figure. What is kept of the sessions bounds the figures of their calls: for the largest ones, those are read of which
 * the bounds are largest, until no other session can have a larger one. For the smallest ones, those of all sessions are.
 */
import {
  type EventRank,
  type EventRanking,
  type ListPage,
  type ProjectId,
  type SessionFigures,
  SessionParts,
  type StoredSummary
} from "@tachograph/core"
import * as ProviderNames from "@tachograph/core/domain/ProviderNames"
import * as Effect from "effect/Effect"
import type { SqlClient, SqlError, Statement } from "effect/sql"
import * as Bucket from "../dialect/Bucket.ts"
import * as BulkValues from "../dialect/BulkValues.ts"
import * as EventIndex from "../dialect/EventIndex.ts"
import * as CallTimes from "../dialect/CallTimes.ts"
import * as UuidColumn from "../dialect/UuidColumn.ts"
import * as FieldConditions from "../filter/FieldConditions.ts"
import * as NamedEvents from "../filter/NamedEvents.ts"
import type * as Projects from "../names/Projects.ts"
import * as RollupPosition from "../rollup/RollupPosition.ts"
import * as SummaryReader from "../sql/SummaryReader.ts"
import * as AllSessions from "./AllSessions.ts"
import * as Names from "./Names.ts"

/** Sessions whose calls one statement reads: few at first, which most pages need no more than, and more where few calls match. */
const firstStep = 50
const maxStep = 500

type Sort = EventRanking["sort"]

const peakOf = { duration: "durationMs", cost: "cost", tokens: "tokens" } as const satisfies Record<Sort, string>

const figureIn = {
  duration: "e.duration_ms",
  cost: "e.cost",
  tokens: `CASE WHEN e.input_tokens IS NULL AND e.output_tokens IS NULL THEN NULL
    ELSE CAST(coalesce(e.input_tokens, 0) AS bigint) + coalesce(e.output_tokens, 0) END`
} as const satisfies Record<Sort, string>

/** A session, with a figure that none of its calls exceeds. */
interface Bound {
  readonly session: number
  readonly figure: number
}

interface Found {
  readonly stored: StoredSummary
  readonly rank: EventRank
}

const by =
  (order: EventRanking["order"]) =>
  ({ rank: a }: Found, { rank: b }: Found): number =>
    (order === "asc" ? 1 : -1) * (a.value - b.value || (a.id < b.id ? -1 : 1))

export const make = (sql: SqlClient.SqlClient, projects: Projects.Projects) => {
  const sessions = AllSessions.make(sql)
  const positions = RollupPosition.make(sql)
  const names = Names.make(sql)
  const named = NamedEvents.make(sql)
  const { fields, joins, toStored } = SummaryReader.make(sql)
  const toId = UuidColumn.encoder(sql)

  /** The sessions that may have calls of a page, those with the largest figures first. */
  const readBounds = Effect.fnUntraced(function* (project_id: number, query: EventRanking, only: number | undefined) {
    const { api, isError, model } = query.fields
    const { isError: _, ...filter } = yield* names.filterOf(project_id, { ...query, model })
    const { fromMs = 0, sort, toMs = Number.POSITIVE_INFINITY } = query
    const mayHave = (part: SessionFigures.SessionFigures) =>
      part.lastMs >= fromMs &&
      part.firstMs < toMs &&
      (api === undefined || part.api === ProviderNames.apiCodes[api]) &&
      (isError !== true || part.errors > 0) &&
      SessionParts.isMatch(filter, part)
    return yield* positions.unchanged(project_id, (position) => {
      const bounds: Array<Bound> = []
      const read = sessions.forEach(project_id, position, (session, parts) => {
        if (only !== undefined && session !== only) return
        let peak = 0
        for (const part of parts) if (mayHave(part)) peak = Math.max(peak, part.peaks[peakOf[sort]])
        // A page before has had those that are larger.
        if (peak > 0)
          bounds.push({ session, figure: Math.min(peak - 1, query.after?.value ?? Number.POSITIVE_INFINITY) })
      })
      return Effect.map(read, () => bounds.sort((a, b) => b.figure - a.figure))
    })
  })

  /** Which calls a page is of, and of which session alone. Undefined if a name does not exist. */
  const conditionsOf = Effect.fnUntraced(function* (project_id: number, query: EventRanking) {
    const { above, after, below, fields, fromMs, order, sort, toMs } = query
    const asked = NamedEvents.namesOf({ ...query, after: undefined })
    const numbers: NamedEvents.Numbers | undefined =
      asked === undefined ? {} : yield* named.numbersOf(project_id, asked)
    if (numbers === undefined) return undefined
    const figure = sql.literal(figureIn[sort])
    const conditions = [
      sql`${figure} IS NOT NULL`,
      ...named.conditionsOf(project_id, query, numbers),
      ...FieldConditions.of(sql, fields)
    ]
    if (after !== undefined) {
      const isBehind = sql.literal(order === "asc" ? ">" : "<")
      const isSame = sql`${figure} = ${after.value} AND e.event_id ${isBehind} ${toId(after.id)}`
      conditions.push(sql`(${figure} ${isBehind} ${after.value} OR (${isSame}))`)
    }
    if (above !== undefined) conditions.push(sql`e.event_id > ${toId(above)}`)
    if (below !== undefined) conditions.push(sql`e.event_id < ${toId(below)}`)
    if (fromMs !== undefined || toMs !== undefined) conditions.push(CallTimes.isDuring(sql, { fromMs, toMs }))
    return { conditions, session: numbers.session }
  })

  const readOf = Effect.fnUntraced(function* (
    project_id: number,
    of: ReadonlyArray<number>,
    { limit, order, sort }: EventRanking,
    conditions: ReadonlyArray<Statement.Fragment>
  ): Effect.fn.Return<ReadonlyArray<Found>, SqlError.SqlError> {
    const figure = sql.literal(figureIn[sort])
    const ofSessions = sql`e.project_id = ${project_id}
      AND ${BulkValues.isAmong(sql, "e.session_number", "integer", of)}${Bucket.and(sql, of.map(Bucket.ofNumber), "e.")}`
    const where = sql.and([ofSessions, ...conditions])
    const way = sql.literal(order)
    const ordered = sql`ORDER BY ${figure} ${way}, e.event_id ${way}`
    const hint = EventIndex.hint(sql, "events_by_session")
    // A node joins its own rows. Elsewhere the page is found before anything is joined.
    const found = Bucket.isDistributed(sql)
      ? sql`events e ${joins()} WHERE ${where} ${ordered} LIMIT ${limit + 1}`
      : sql`(SELECT e.* FROM events e ${hint} WHERE ${where} ${ordered} LIMIT ${limit + 1}) AS e ${joins()} ${ordered}`
    const rows = yield* sql<SummaryReader.EventRow & { readonly figure: number | string }>`
      SELECT ${fields}, ${figure} AS figure FROM ${found}`
    return rows.map((row) => {
      const stored = toStored(row)
      return { stored, rank: { value: Number(row.figure), id: stored.id } }
    })
  })

  const rankEvents = Effect.fn("SqlStorage.rankEvents")(function* (
    project: ProjectId,
    query: EventRanking
  ): Effect.fn.Return<ListPage<StoredSummary, EventRank>, SqlError.SqlError> {
    const number = yield* projects.find(project)
    const which = yield* conditionsOf(number, query)
    if (which === undefined) return { rows: [], next: undefined }
    const bounds = yield* readBounds(number, query, which.session)
    let found: ReadonlyArray<Found> = []
    for (let at = 0, step = firstStep; at < bounds.length; at += step, step = Math.min(2 * step, maxStep)) {
      // None of those that follow has a larger figure than the last call of the page.
      const isFull = query.order === "desc" && found.length > query.limit
      if (isFull && found[query.limit]!.rank.value > bounds[at]!.figure) break
      const sessions = bounds.slice(at, at + step).map(({ session }) => session)
      const read = yield* readOf(number, sessions, query, which.conditions)
      found = [...found, ...read].sort(by(query.order)).slice(0, query.limit + 1)
      yield* Effect.yieldNow
    }
    const page = found.slice(0, query.limit)
    return {
      rows: page.map(({ stored }) => stored),
      next: found.length > query.limit ? page.at(-1)!.rank : undefined
    }
  })

  return { rankEvents }
}
