/** Sums have the number of calls whose cost leaves something out. All are made anew. */
import * as Effect from "effect/Effect"
import { SqlClient } from "effect/sql"

export default Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  // As in the second migration.
  yield* sql.onDialectOrElse({
    pg: () => sql`SET LOCAL citus.multi_shard_modify_mode = 'sequential'`,
    orElse: () => Effect.void
  })
  yield* sql`DELETE FROM rollups`
})
