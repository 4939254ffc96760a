/** What is said of an event by what records it, as JSON text. */
import * as Effect from "effect/Effect"
import { SqlClient } from "effect/sql"

/** Columns of the table `events` that this migration creates. */
export type EventColumn = "recorded"

export default Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  // The list of migrations, which the same transaction has changed, is on all nodes: Citus refuses to go over these all at once then.
  yield* sql.onDialectOrElse({
    pg: () => sql`SET LOCAL citus.multi_shard_modify_mode = 'sequential'`,
    orElse: () => Effect.void
  })
  yield* sql`ALTER TABLE events ADD COLUMN recorded TEXT`
})
