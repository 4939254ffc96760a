/** Sessions in the order of their last calls. */
import { type EventId, SessionRank, type SessionOrder } from "@tachograph/core"
import * as Effect from "effect/Effect"
import type { SqlClient, SqlError } from "effect/sql"
import * as EventIndex from "../dialect/EventIndex.ts"
import * as UuidColumn from "../dialect/UuidColumn.ts"
import type { Integer } from "../sql/RowDecoding.ts"
import * as Rollups from "../rollup/Rollups.ts"
import * as Series from "../rollup/Series.ts"

/** A person with more events is looked for in the list of all sessions. */
const maxOfPerson = 2_000

/** Sessions with later events than a list was begun with, that a page takes from where they are. */
const maxMoved = 2_000

/** Some sessions in order, and where to go on; undefined at the end. */
export interface RankedStep {
  readonly ranked: ReadonlyArray<SessionRank.SessionRank>
  readonly end: SessionRank.SessionRank | undefined
}

export const make = (sql: SqlClient.SqlClient) => {
  const rollups = Rollups.make(sql)
  const toStored = UuidColumn.encoder(sql)
  // Literal, so that SQLite knows that the partial index has all of them.
  const isOfSession = sql.literal(`series = ${Series.session}`)

  /**
   * The sessions that have later events than one in the rollups: their rows do not say their last calls up to it. Undefined if there are
   * too many. The statement says in which order it reads rows, because Postgres, which knows nothing of a new table, takes the index that
   * has this order.
   */
  const readMoved = Effect.fnUntraced(function* (project_id: number, asOf: EventId) {
    const rows = yield* sql<{ session_number: Integer }>`SELECT session_number FROM rollups
      WHERE ${rollups.ofProject(project_id)} AND ${isOfSession} AND last_event > ${toStored(asOf)}
      ORDER BY last_event LIMIT ${maxMoved}`
    return rows.length === maxMoved ? undefined : new Set(rows.map((row) => Number(row.session_number)))
  })

  /** The sessions of a person who has few events; undefined if they have many, or anybody is looked for. */
  const readOfPerson = Effect.fnUntraced(function* (project_id: number, person: number | undefined) {
    if (person === undefined) return undefined
    const rows = yield* sql<{ session_number: Integer }>`SELECT session_number
      FROM events ${EventIndex.hint(sql, "events_by_person")}
      WHERE project_id = ${project_id} AND person_number = ${person} LIMIT ${maxOfPerson}`
    return rows.length === maxOfPerson ? undefined : new Set(rows.map((row) => Number(row.session_number)))
  })

  /**
   * Some of the rows of sessions that are in a range, in order, and where to go on. A session that has several rows occurs as often, and
   * the last of its ranks is its own.
   */
  const readRanked = Effect.fnUntraced(function* (
    project_id: number,
    { above, below }: SessionOrder.Range,
    order: "asc" | "desc",
    limit: number
  ): Effect.fn.Return<RankedStep, SqlError.SqlError> {
    // A row without a last call is damaged.
    const isAbove = above === undefined ? sql` AND last_call IS NOT NULL` : sql` AND last_call > ${toStored(above)}`
    const isBelow = below === undefined ? sql.literal("") : sql` AND last_call < ${toStored(below)}`
    const rows = yield* sql<{ session_number: Integer; last_call: UuidColumn.StoredId }>`
      SELECT session_number, last_call FROM rollups
      WHERE ${rollups.ofProject(project_id)} AND ${isOfSession}${isAbove}${isBelow}
      ORDER BY last_call ${sql.literal(order)} LIMIT ${limit}`
    const read = rows.map((row) => UuidColumn.decode(row.last_call) as SessionRank.SessionRank)
    // A rank that is damaged may name another session.
    const ranked = read.map((rank, n) => SessionRank.of(SessionRank.msOf(rank), Number(rows[n]!.session_number)))
    return { ranked, end: rows.length < limit ? undefined : read.at(-1) }
  })

  return { readMoved, readOfPerson, readRanked }
}
