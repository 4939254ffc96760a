/** What an answer says that it cost, what the list says then, and what the list leaves out. */
import * as Effect from "effect/Effect"
import { SqlClient } from "effect/sql"

/** Columns of the tables `events` and `event_kinds` that this migration creates. Costs are billionths of a dollar. */
export type EventColumn = "stated_cost" | "list_cost"
export type KindColumn = "unpriced_parts"

export default Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  // As in the second migration.
  const bigint = yield* sql.onDialectOrElse({
    pg: () => Effect.as(sql`SET LOCAL citus.multi_shard_modify_mode = 'sequential'`, sql.literal("bigint")),
    orElse: () => Effect.succeed(sql.literal("INTEGER"))
  })
  yield* sql`ALTER TABLE events ADD COLUMN stated_cost ${bigint}`
  yield* sql`ALTER TABLE events ADD COLUMN list_cost ${bigint}`
  yield* sql`ALTER TABLE event_kinds ADD COLUMN unpriced_parts SMALLINT`
})
