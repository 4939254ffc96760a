/**
 * Counters that every append of a project adds to are kept in stripes, whose sum counts: a row that is shared by all
 * transactions would make each wait until the one before it is committed. In Postgres each connection has a stripe of its
 * own, or shares one with few others. SQLite has one writer, and one stripe.
 */
import type { SqlClient, Statement } from "effect/sql"

const maxStripes = 64

/** The stripe of the current transaction. */
export const current = (sql: SqlClient.SqlClient): Statement.Fragment =>
  sql.literal(sql.onDialectOrElse({ pg: () => `pg_backend_pid() % ${maxStripes}`, orElse: () => "0" }))
