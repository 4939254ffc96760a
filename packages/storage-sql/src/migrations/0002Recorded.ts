/** What is said of an event by what records it, as JSON text. */
import * as Effect from "effect/Effect"
import { SqlClient } from "effect/sql"

/** Columns of the table `events` that this migration creates. */
export type EventColumn = "recorded"

export default Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  // Over one connection to each node of a cluster: of several, each would prepare a transaction of its own there.
  yield* sql.onDialectOrElse({
    pg: () => sql`SET LOCAL citus.multi_shard_modify_mode = 'sequential'`,
    orElse: () => Effect.void
  })
  yield* sql`ALTER TABLE events ADD COLUMN recorded TEXT`
})
