/**
 * The sizes of sessions, and the order in which the largest are found.
 *
 * An index of the sizes themselves would change with each append. `ranked_bytes` is at most `stored_bytes`, which is at most
 * an eighth and `rankStepBytes` more, and is only changed where that would not hold any longer: of a small session nearly never.
 */
import { rankStepBytes } from "@tachograph/core"
import * as Effect from "effect/Effect"
import type { SqlClient, SqlError, Statement } from "effect/sql"
import * as BulkValues from "../dialect/BulkValues.ts"
import * as Dialects from "../dialect/Dialects.ts"

/** Sessions that are looked at besides those asked for, to put sessions of nearly the same size in order. */
const maxOfSimilarSize = 10_000

const step = String(rankStepBytes)

/** The most bytes that a row of `sessions` may have in its place. */
const mostBytes = `sessions.ranked_bytes + sessions.ranked_bytes / 8 + ${step}`

/** Whether a row of `sessions` is in its place in the order. */
export const isRanked = (sql: SqlClient.SqlClient): Statement.Fragment =>
  sql`sessions.stored_bytes BETWEEN sessions.ranked_bytes AND ${sql.literal(mostBytes)}`

/** Part of the `SET` list of an update of `sessions`. `rank` follows in the same transaction, for what is not ranked here. */
export const grown = (sql: SqlClient.SqlClient, by: Statement.Fragment): Statement.Fragment => {
  const size = sql`sessions.stored_bytes + ${by}`
  if (!Dialects.of(sql).keepsUnchangedIndexes) return sql`stored_bytes = ${size}`
  return sql`stored_bytes = ${size}, ranked_bytes = CASE
    WHEN ${size} BETWEEN sessions.ranked_bytes AND ${sql.literal(mostBytes)}
    THEN sessions.ranked_bytes ELSE ${size} END`
}

/** Puts those of the sessions into their place that are not. */
export const ranking = (sql: SqlClient.SqlClient, project_id: number, sessions: ReadonlyArray<number>) =>
  sql`UPDATE sessions SET ranked_bytes = stored_bytes
    WHERE project_id = ${project_id} AND ${BulkValues.isAmong(sql, "session_number", "integer", sessions)}
      AND NOT (${isRanked(sql)})`

export const make = (sql: SqlClient.SqlClient) => {
  /** After updates with `grown`, for sessions that may not be in their place. */
  const rank = (project_id: number, sessions: ReadonlyArray<number>): Effect.Effect<void, SqlError.SqlError> =>
    sessions.length === 0 || Dialects.of(sql).keepsUnchangedIndexes
      ? Effect.void
      : Effect.asVoid(ranking(sql, project_id, sessions))

  /**
   * The largest sessions, largest first. If more than `maxOfSimilarSize` have nearly the size of the last one, it may be
   * another of these.
   */
  const largest = (project_id: number, limit: number): Statement.Fragment => sql`
    SELECT session_number AS number, session_id AS id, stored_bytes AS size FROM (
      SELECT session_number, session_id, stored_bytes FROM sessions
      WHERE project_id = ${project_id} AND ranked_bytes >= coalesce((
        SELECT (ranked_bytes - ${sql.literal(step)}) * 8 / 9 FROM sessions WHERE project_id = ${project_id}
        ORDER BY ranked_bytes DESC LIMIT 1 OFFSET ${limit - 1}), 0)
      ORDER BY ranked_bytes DESC LIMIT ${limit + maxOfSimilarSize}) AS candidates
    ORDER BY stored_bytes DESC, session_number LIMIT ${limit}`

  return { rank, largest }
}
