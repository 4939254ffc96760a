/** The times of calls that were received long before or after them, and sessions by their last calls. All sums are made anew. */
import * as Effect from "effect/Effect"
import { SqlClient } from "effect/sql"

/** Columns of the table `events` that this migration creates. Times are epoch milliseconds. */
export type EventColumn = "distant_at"

/** The digits of the time in an id, of 12. SQLite has no function that reads them. */
const digits = Array.from({ length: 12 }, (_, n) => n + 1)
const millisInSqlite = digits
  .map((n) => `(instr('0123456789ABCDEF', substr(hex(substr(event_id, 1, 6)), ${n}, 1)) - 1) * ${16 ** (12 - n)}`)
  .join(" + ")

export default Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const { bigint, millis, otherOrder, uuid } = yield* sql.onDialectOrElse({
    // As in the second migration.
    pg: () =>
      Effect.as(sql`SET LOCAL citus.multi_shard_modify_mode = 'sequential'`, {
        bigint: sql.literal("bigint"),
        // As in the first migration.
        otherOrder: sql.literal("NULLS FIRST"),
        millis: sql.literal("('x' || left(replace(event_id::text, '-', ''), 12))::bit(48)::bigint"),
        uuid: sql.literal("uuid")
      }),
    orElse: () =>
      Effect.succeed({
        bigint: sql.literal("INTEGER"),
        otherOrder: sql.literal(""),
        millis: sql.literal(millisInSqlite),
        uuid: sql.literal("BLOB")
      })
  })
  yield* sql`ALTER TABLE events ADD COLUMN distant_at ${bigint}`
  yield* sql`UPDATE events SET distant_at = occurred_at
    WHERE occurred_at >= 0 AND occurred_at < 281474976710656 AND abs(occurred_at - (${millis})) > 3600000`
  yield* sql`UPDATE events SET distant_at = (${millis}) + received_after
    WHERE (occurred_at IS NULL OR occurred_at < 0 OR occurred_at >= 281474976710656) AND abs(received_after) > 3600000`
  yield* sql`CREATE INDEX events_by_distant_time ON events (project_id, distant_at, event_id)
    WHERE distant_at IS NOT NULL`
  yield* sql`CREATE INDEX events_by_distant_id ON events (project_id, event_id ${otherOrder}, distant_at)
    WHERE distant_at IS NOT NULL`
  yield* sql`CREATE INDEX events_by_distant_session_time ON events (project_id, session_number, distant_at, event_id)
    WHERE distant_at IS NOT NULL`
  yield* sql`DELETE FROM rollups`
  yield* sql`ALTER TABLE rollups ADD COLUMN last_call ${uuid}`
  yield* sql`CREATE INDEX rollups_by_last_call ON rollups (project_id, last_call) WHERE series = 1`
})
