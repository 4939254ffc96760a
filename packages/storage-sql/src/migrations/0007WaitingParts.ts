/** Parts of events that are not complete yet: see `waiting/Waiting`. */
import * as Effect from "effect/Effect"
import { SqlClient } from "effect/sql"
import { isDistributed } from "./0003AuditLog.ts"

export default Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const isPg = sql.onDialectOrElse({ pg: () => true, orElse: () => false })
  const isSpread = isPg && (yield* isDistributed)
  const bigint = sql.literal(isPg ? "bigint" : "INTEGER")
  const bytes = sql.literal(isPg ? "bytea" : "BLOB")
  const short = sql.literal(isPg ? `varchar(100) COLLATE "C"` : "TEXT")
  yield* sql`CREATE TABLE waiting_parts (
    held_at ${bigint} NOT NULL,
    due_at ${bigint},
    project_id INTEGER NOT NULL,
    size INTEGER NOT NULL,
    ${sql.literal(isSpread ? "bucket SMALLINT NOT NULL," : "")}
    group_id ${short} NOT NULL,
    part_id ${short} NOT NULL,
    content ${bytes} NOT NULL,
    PRIMARY KEY (project_id, group_id, part_id${sql.literal(isSpread ? ", bucket" : "")})
  )`
  yield* sql`CREATE INDEX waiting_parts_by_due ON waiting_parts (due_at, project_id, group_id) WHERE due_at IS NOT NULL`
  // What only says something of other parts is never due.
  yield* sql`CREATE INDEX waiting_parts_by_age ON waiting_parts (held_at) WHERE due_at IS NULL`
  if (!isPg) return
  // It is compressed: keeps Postgres from trying again.
  yield* sql`ALTER TABLE waiting_parts ALTER COLUMN content SET STORAGE EXTERNAL`
  if (!isSpread) return
  yield* sql`SET LOCAL citus.multi_shard_modify_mode = 'sequential'`
  yield* sql`SELECT create_distributed_table('waiting_parts', 'bucket', colocate_with := 'sessions')`
})
