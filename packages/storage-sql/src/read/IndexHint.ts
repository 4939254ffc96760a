/**
 * Which index of the events a filter is looked up in. SQLite has no statistics, and would rather walk the whole project in
 * the order that is asked for.
 */
import type { SqlClient, Statement } from "effect/sql"

export type EventIndex = "events_by_session" | "events_by_person" | "events_by_agent"

/** Stands behind the table's name. Nothing where the database can choose, and where the primary key is the index. */
export const of = (sql: SqlClient.SqlClient, index: EventIndex | undefined): Statement.Fragment =>
  sql.literal(index === undefined ? "" : sql.onDialectOrElse({ sqlite: () => `INDEXED BY ${index}`, orElse: () => "" }))
