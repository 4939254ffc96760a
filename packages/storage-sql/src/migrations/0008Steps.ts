/**
 * Steps of sessions: see `append/AppendSteps`. Their texts are in packs, from `text_start` on in the output of `pack_number`. Such packs
 * have `kept` = 2.
 */
import * as Effect from "effect/Effect"
import { SqlClient } from "effect/sql"
import { isDistributed } from "./0003AuditLog.ts"

export default Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const isPg = sql.onDialectOrElse({ pg: () => true, orElse: () => false })
  const bigint = sql.literal(isPg ? "bigint" : "INTEGER")
  const bytes = sql.literal(isPg ? "bytea" : "BLOB")
  const uuid = sql.literal(isPg ? "uuid" : "BLOB")
  const clustered = sql.literal(isPg ? "" : "WITHOUT ROWID")
  const isOnNodes = isPg && (yield* isDistributed)
  const bucket = sql.literal(isOnNodes ? "bucket SMALLINT NOT NULL, " : "")
  const andBucket = sql.literal(isOnNodes ? ", bucket" : "")
  // In SQLite, every index has the primary key in its rows: a short one halves them.
  const place = sql.literal(
    isPg ? "project_id, session_number, trace_id, span_id" : "project_id, session_number, pack_number, text_start"
  )
  yield* sql`CREATE TABLE steps (
    occurred_at ${bigint} NOT NULL,
    received_at ${bigint} NOT NULL,
    project_id INTEGER NOT NULL,
    session_number INTEGER NOT NULL,
    agent_number INTEGER NOT NULL,
    agent_version_number INTEGER NOT NULL,
    person_number INTEGER,
    pack_number INTEGER NOT NULL,
    text_start INTEGER NOT NULL,
    text_bytes INTEGER NOT NULL,
    checksum INTEGER NOT NULL,
    trace_id ${uuid} NOT NULL,
    span_id ${bytes} NOT NULL,
    ${bucket}PRIMARY KEY (${place}${andBucket})
  ) ${clustered}`
  if (isOnNodes) {
    yield* sql`SET LOCAL citus.multi_shard_modify_mode = 'sequential'`
    yield* sql`SELECT create_distributed_table('steps', 'bucket', colocate_with := 'sessions')`
  }
  if (!isPg) yield* sql`CREATE UNIQUE INDEX steps_by_span ON steps (project_id, session_number, trace_id, span_id)`
  yield* sql`CREATE INDEX steps_by_start ON steps (project_id, session_number, occurred_at, pack_number, text_start)`
  yield* sql`CREATE INDEX steps_by_receipt ON steps (project_id, received_at, session_number, pack_number, text_start)`
  yield* sql`CREATE INDEX steps_by_person ON steps (project_id, person_number) WHERE person_number IS NOT NULL`
})
