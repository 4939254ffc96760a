/**
 * The indexes of `events` by session, agent, person and trace, and how a statement is made to use one. Each but the last has
 * two numbers of names, and all have the id last. So have those of events whose calls are distant from their ids, and of
 * those whose calls failed, without names. Without statistics SQLite's planner prefers to scan the project in the order of ids, and Postgres's
 * does if it expects many rows.
 *
 * SQLite is told the index's name. In Postgres the indexes begin with nulls, of which their columns have none: only they have
 * the order that a statement asks for, not the primary key.
 */
import type { SqlClient, Statement } from "effect/sql"
import * as Dialects from "./Dialects.ts"

export type EventIndex =
  | "events_by_session"
  | "events_by_agent"
  | "events_by_person"
  | "events_by_trace"
  | "events_by_distant_id"
  | "events_by_error"

export type Order = "asc" | "desc"

/** Follows the table's name. */
export const hint = (sql: SqlClient.SqlClient, index: EventIndex): Statement.Fragment =>
  sql.literal(Dialects.of(sql).useIndex(index))

/** Follows the last column that a statement orders by: the index's second number, if the first is given, or the id. */
export const direction = (sql: SqlClient.SqlClient, order: Order): Statement.Fragment =>
  sql.literal(order === "asc" ? "ASC NULLS FIRST" : "DESC NULLS LAST")

/**
 * Merges queries for rows in the order of `event_id`, each from one range of an index, without reading more of a range than
 * the result needs. One query or more, which select the same columns.
 */
export const merged = (
  sql: SqlClient.SqlClient,
  queries: ReadonlyArray<Statement.Fragment>,
  order: Order,
  limit: number
): Statement.Fragment => {
  const ending = sql`ORDER BY event_id ${direction(sql, order)} LIMIT ${limit}`
  return sql`${sql.join(" UNION ALL ", false)(Dialects.of(sql).inOrder(queries, ending))} ${ending}`
}
