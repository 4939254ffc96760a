/** Who erased what, and keys: see `resources/Audit`. The time of an entry is in its id. */
import * as Effect from "effect/Effect"
import { SqlClient } from "effect/sql"

/** Whether Citus has copies of the tables on all nodes, which an earlier version has made. */
export const isDistributed = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const [catalogue] = yield* sql<{ is_missing: boolean }>`SELECT to_regclass('pg_dist_partition') IS NULL AS is_missing`
  if (catalogue!.is_missing) return false
  const rows = yield* sql`SELECT 1 FROM pg_dist_partition WHERE logicalrelid = to_regclass('projects')`
  return rows.length > 0
})

export default Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const isPg = sql.onDialectOrElse({ pg: () => true, orElse: () => false })
  const uuid = sql.literal(isPg ? "uuid" : "BLOB")
  const short = sql.literal(isPg ? `varchar(100) COLLATE "C"` : "TEXT")
  const clustered = sql.literal(isPg ? "" : "WITHOUT ROWID")
  yield* sql`CREATE TABLE audit_log (
    project_id INTEGER NOT NULL,
    events INTEGER,
    entry_id ${uuid} NOT NULL,
    action ${short} NOT NULL,
    actor ${short} NOT NULL,
    subject ${short},
    PRIMARY KEY (project_id, entry_id)
  ) ${clustered}`
  if (isPg && (yield* isDistributed)) {
    yield* sql`SET LOCAL citus.multi_shard_modify_mode = 'sequential'`
    yield* sql`SELECT create_reference_table('audit_log')`
  }
})
