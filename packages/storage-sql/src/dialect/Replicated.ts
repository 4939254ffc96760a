/**
 * Waits until what is committed is on the standbys too, where the replication is synchronous. A commit whose wait was cancelled is
 * visible all the same, so what only reads it must wait for it. Only a transaction that writes waits: this one writes to the log only.
 */
import * as Effect from "effect/Effect"
import type { SqlClient, SqlError } from "effect/sql"

export const wait = (sql: SqlClient.SqlClient): Effect.Effect<void, SqlError.SqlError> =>
  sql.onDialectOrElse({
    pg: () =>
      Effect.asVoid(sql`SELECT CASE WHEN current_setting('synchronous_standby_names') <> ''
        THEN CAST(pg_logical_emit_message(true, 'tachograph', '') AS text) END AS position`),
    orElse: () => Effect.void
  })
