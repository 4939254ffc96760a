/** The index of `events` that a filter uses. Without statistics, SQLite's planner prefers to scan the project in id order. */
import type { SqlClient, Statement } from "effect/sql"

export type EventIndex = "events_by_session" | "events_by_person" | "events_by_agent"

/** Follows the table's name. Empty for other databases, and without an index, which leaves the primary key. */
export const of = (sql: SqlClient.SqlClient, index: EventIndex | undefined): Statement.Fragment =>
  sql.literal(index === undefined ? "" : sql.onDialectOrElse({ sqlite: () => `INDEXED BY ${index}`, orElse: () => "" }))
