/** The codes of providers' errors, and the calls that failed in the order of their ids. */
import * as Effect from "effect/Effect"
import { SqlClient } from "effect/sql"

/** Columns of the table `events` that this migration creates. */
export type EventColumn = "error_code"

export default Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const { otherOrder, short } = yield* sql.onDialectOrElse({
    // As in the second migration.
    pg: () =>
      Effect.as(sql`SET LOCAL citus.multi_shard_modify_mode = 'sequential'`, {
        // As in the first migration.
        otherOrder: sql.literal("NULLS FIRST"),
        short: sql.literal(`varchar(100) COLLATE "C"`)
      }),
    orElse: () => Effect.succeed({ otherOrder: sql.literal(""), short: sql.literal("TEXT") })
  })
  yield* sql`ALTER TABLE events ADD COLUMN error_code ${short}`
  yield* sql`CREATE INDEX events_by_error ON events (project_id, event_id ${otherOrder}) WHERE error_type IS NOT NULL`
})
