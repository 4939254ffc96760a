/**
 * Reads digests of sessions: the figures of 256 of them in a row of a few kB, so that a read looks at every session for some bytes of
 * each. `Digests.ts` makes them of the rows of sessions, some time later: a row that has changed since is read itself.
 */
import { type EventId, SessionDigest, SessionFigures } from "@tachograph/core"
import * as Effect from "effect/Effect"
import type { SqlClient, Statement } from "effect/sql"
import * as BulkValues from "../dialect/BulkValues.ts"
import * as UuidColumn from "../dialect/UuidColumn.ts"
import type { Integer } from "../sql/RowDecoding.ts"
import * as Damages from "./Damages.ts"
import * as RollupPosition from "./RollupPosition.ts"
import * as Rollups from "./Rollups.ts"
import * as Series from "./Series.ts"

const positionKey: Series.Key = { ...Series.noNames, series: Series.digestPosition }

export const keyOf = (number: number): Series.Key => ({ ...Series.noNames, series: Series.digest, session: number })

/** Up to which event the digests are, and the numbers of those that are to be made anew. */
export interface DigestPosition {
  readonly last: EventId
  readonly missing: ReadonlyArray<number>
}

/** Before there are any. */
export const none: DigestPosition = { last: RollupPosition.first.last, missing: [] }

/** Rows of sessions. */
export interface SessionRowsRead {
  readonly parts: Parts
  /** The sessions of those that are damaged: their events say what they add up to. */
  readonly damaged: ReadonlySet<number>
  readonly rows: number
  /** That of the last row. */
  readonly last: EventId | undefined
}

export type Parts = ReadonlyArray<SessionFigures.SessionFigures>

const figuresOf = (row: Rollups.Rollup): SessionFigures.SessionFigures =>
  SessionFigures.ofPart(row.session, { ...row, ...Rollups.endsOf(row)! })

export const make = (sql: SqlClient.SqlClient) => {
  const rollups = Rollups.make(sql)
  const toStored = UuidColumn.encoder(sql)
  // Literal, so that SQLite knows that the partial index has all of them.
  const isOfSession = sql.literal(`series = ${Series.session}`)
  // A parameter, so that Postgres takes the primary key, which has their order, and no partial index.
  const isInOrder = sql`series = ${Series.session}`
  const all = Rollups.selected(sql)

  const readRows = (project_id: number, where: Statement.Fragment) =>
    sql<Rollups.Row>`SELECT ${all} FROM rollups WHERE ${rollups.ofProject(project_id)} AND ${where}`

  /** Undefined if there are no digests. */
  const position = Effect.fnUntraced(function* (project_id: number) {
    const [row] = yield* readRows(project_id, sql`series = ${Series.digestPosition}`)
    if (row === undefined) return undefined
    try {
      const { last, sums } = Rollups.sumsOf(project_id, positionKey, row)
      return last && ({ last, missing: SessionDigest.readNumbers(sums) } satisfies DigestPosition)
    } catch {
      return undefined
    }
  })

  const toPosition = (project_id: number, { last, missing }: DigestPosition) =>
    rollups.toInsert(project_id, positionKey, { last }, SessionDigest.writeNumbers(missing))

  const read = (project_id: number, where: Statement.Fragment) =>
    Effect.map(readRows(project_id, where), (rows): SessionRowsRead => {
      const damaged = new Set<number>()
      const parts = rows.flatMap((row) => {
        const found = Rollups.tryOf(project_id, row)
        if (found === undefined) damaged.add(Number(row.session_number))
        return found === undefined ? [] : [figuresOf(found)]
      })
      const last = rows.at(-1)?.last_event ?? null
      return {
        parts,
        damaged,
        rows: rows.length,
        last: last === null ? undefined : (UuidColumn.decode(last) as EventId)
      }
    })

  /** The parts of sessions that have changed since the digests were made, in the order in which they have. */
  const changed = (project_id: number, since: EventId, limit?: number) => {
    const first = limit === undefined ? sql.literal("") : sql` LIMIT ${limit}`
    return read(project_id, sql`${isOfSession} AND last_event > ${toStored(since)} ORDER BY last_event${first}`)
  }

  /** The parts of the sessions from a number to another, which is not among them. */
  const ofSessions = (project_id: number, from: number, to: number) => {
    const isAmong = sql`session_number >= ${from} AND session_number < ${to}`
    return read(project_id, sql`${isInOrder} AND ${isAmong} ORDER BY session_number`)
  }

  /** Undefined if it is damaged. */
  const partsIn = (project_id: number, row: Rollups.Row): Parts | undefined => {
    const number = Number(row.session_number)
    try {
      return SessionDigest.read(number, Rollups.sumsOf(project_id, keyOf(number), row).sums)
    } catch {
      return undefined
    }
  }

  const ofNumbers = Effect.fnUntraced(function* (project_id: number, numbers: ReadonlyArray<number>) {
    const found = new Map<number, Parts>()
    for (const chunk of BulkValues.chunks(numbers)) {
      const isAmong = BulkValues.isAmong(sql, "session_number", "integer", chunk)
      for (const row of yield* readRows(project_id, sql`series = ${Series.digest} AND ${isAmong}`)) {
        const parts = partsIn(project_id, row)
        if (parts !== undefined) found.set(Number(row.session_number), parts)
      }
    }
    return found
  })

  /** Some digests after a number, in the order of their numbers. */
  const after = Effect.fnUntraced(function* (project_id: number, number: number, limit: number) {
    const rows = yield* readRows(
      project_id,
      sql`series = ${Series.digest} AND session_number > ${number} ORDER BY session_number LIMIT ${limit}`
    )
    return rows.map((row) => ({ number: Number(row.session_number), parts: partsIn(project_id, row) }))
  })

  const lastSession = Effect.fnUntraced(function* (project_id: number) {
    const [row] = yield* sql<{ session_number: Integer }>`SELECT session_number FROM rollups
      WHERE ${rollups.ofProject(project_id)} AND ${isInOrder} ORDER BY session_number DESC LIMIT 1`
    return Number(row?.session_number ?? -1)
  })

  /** How many events are in the rows, by those of weeks. */
  const derivedEvents = Effect.fnUntraced(function* (project_id: number) {
    const rows = yield* readRows(project_id, sql`series = ${Series.ofTimes.all.week}`)
    const weeks = yield* Damages.readable(() => rows.map((row) => Rollups.of(project_id, row)))
    return weeks.reduce((sum, { tally }) => sum + tally.events, 0)
  })

  return { after, changed, derivedEvents, lastSession, ofNumbers, ofSessions, position, toPosition }
}
