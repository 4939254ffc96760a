/**
 * Distributes the tables over the nodes of a Postgres with the extension Citus. A session is on one node, with its own rows: their
 * column `bucket` says which. Shared pieces and their owners are spread by the pieces, parts that wait by their groups, and sums by
 * the projects. Tables with few rows that are read everywhere are copied to all nodes.
 */
import * as Effect from "effect/Effect"
import { SqlClient, SqlError } from "effect/sql"
import * as Bucket from "./dialect/Bucket.ts"
import * as Nodes from "./dialect/Nodes.ts"
import * as SqlFailure from "./SqlFailure.ts"

/** The keys of the rows of sessions, to each of which `bucket` is added: Citus cannot keep others unique. */
const keys: Readonly<Record<string, string>> = {
  sessions: "project_id, session_number",
  events: "project_id, event_id",
  packs: "project_id, session_number, pack_number",
  shared_pieces: "project_id, sha256",
  shared_piece_owners: "project_id, session_number, sha256",
  storage_usage: "project_id, session_number, agent_number",
  rollups:
    "project_id, series, session_number, person_number, slot, agent_number, agent_version_number, api, model, response_model",
  idempotency_keys: "project_id, key_hash",
  waiting_parts: "project_id, group_id, part_id",
  steps: "project_id, session_number, trace_id, span_id"
}

/** Tables of which every node has a copy. A change of one is made on all nodes, in two phases. */
const copied = [
  ...[
    "projects",
    "api_keys",
    "fingerprints",
    "agents",
    "agent_versions",
    "people",
    "event_kinds",
    "leases",
    "audit_log"
  ],
  "tachograph_migrations"
]

const hasExtension = Effect.flatMap(SqlClient.SqlClient, (sql) =>
  sql.onDialectOrElse({
    pg: () => Effect.map(sql`SELECT 1 FROM pg_extension WHERE extname = 'citus'`, (rows) => rows.length > 0),
    orElse: () => Effect.succeed(false)
  })
)

/** The first hash of each shard of the tables, in ascending order; none if they are not distributed. */
const shards = Effect.flatMap(SqlClient.SqlClient, (sql) =>
  Effect.map(
    sql<{ first: number }>`SELECT CAST(shardminvalue AS integer) AS first FROM pg_dist_shard
      WHERE logicalrelid = to_regclass('events') ORDER BY first`,
    (rows) => rows.map(({ first }) => first)
  )
)

/** Finds out whether the client's tables are distributed. Statements that are made before do not know it. */
export const detect = Effect.gen(function* () {
  if (!(yield* hasExtension)) return
  const found = yield* shards
  if (found.length === 0) return
  const sql = yield* SqlClient.SqlClient
  Bucket.distributeOver(sql, found)
  yield* Nodes.look(sql)
})

const refuse = (message: string) => SqlFailure.make(SqlError.UnknownError, "distribute", message)

/** Fails if one of the tables has rows. Those that were not created yet have none. */
const refuseRows = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  for (const table of Object.keys(keys)) {
    const [found] = yield* sql<{ is_missing: boolean }>`SELECT to_regclass(${table}) IS NULL AS is_missing`
    if (found!.is_missing) continue
    const rows = yield* sql`SELECT 1 FROM ${sql(table)} LIMIT 1`
    if (rows.length === 0) continue
    return yield* refuse(
      table === "sessions"
        ? "the tables have events; distribute an empty database, and then move the events there with `tachograph copy`"
        : `the table ${table} has rows, although there are no events; distribute tables that were never used, in a new schema`
    )
  }
})

/** Fails if tables cannot be distributed, whether or not they were created yet. Succeeds if they are distributed. Changes nothing. */
const check = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  if (!(yield* hasExtension)) {
    return yield* refuse(
      "the database does not have the extension Citus; run `CREATE EXTENSION citus` on every node first"
    )
  }
  if ((yield* shards).length > 0) return
  const workers = yield* sql`SELECT 1 FROM pg_dist_node WHERE isactive AND shouldhaveshards LIMIT 1`
  if (workers.length === 0) {
    return yield* refuse("the cluster has no nodes for data; add them with `SELECT citus_add_node(host, port)` first")
  }
  // By it the other nodes know whose transactions they have.
  const coordinator = yield* sql`SELECT 1 FROM pg_dist_node WHERE groupid = 0`
  if (coordinator.length === 0) {
    return yield* refuse("the coordinator has no address; run `SELECT citus_set_coordinator_host(host, port)` first")
  }
  const [setting] = yield* sql<{ count: string; copies: string }>`SELECT current_setting('citus.shard_count') AS count,
    current_setting('citus.shard_replication_factor') AS copies`
  const { copies, count } = setting!
  if (copies !== "1") return yield* refuse(`citus.shard_replication_factor is ${copies}; only 1 is supported`)
  if (!Bucket.isEvenOver(Number(count))) {
    return yield* refuse(
      `citus.shard_count is ${count}; set it to a power of two of at most 256, so that all shards have equally many sessions`
    )
  }
  yield* refuseRows
})

/**
 * Migrates the tables and, in one transaction, distributes them; they must have no sessions. Fails before it changes anything if they
 * cannot be distributed. Returns what `migrate` did, over how many shards they are distributed, and whether they were before.
 */
export const run = Effect.fn("Distribution.run")(function* <A, E, R>(migrate: Effect.Effect<A, E, R>) {
  const sql = yield* SqlClient.SqlClient
  yield* check
  const migrated = yield* migrate
  const before = yield* shards
  if (before.length > 0) return { migrated, shards: before.length, isNew: false }
  return yield* sql.withTransaction(
    Effect.gen(function* () {
      yield* sql`LOCK TABLE sessions IN ACCESS EXCLUSIVE MODE`
      const meanwhile = yield* shards
      if (meanwhile.length > 0) return { migrated, shards: meanwhile.length, isNew: false }
      yield* refuseRows
      // Everything on one connection for each node, as both kinds of tables are created in one transaction.
      yield* sql`SET LOCAL citus.multi_shard_modify_mode = 'sequential'`
      for (const table of copied) yield* sql.unsafe(`SELECT create_reference_table('${table}')`)
      for (const [table, key] of Object.entries(keys)) {
        yield* sql.unsafe(`ALTER TABLE ${table} ADD COLUMN bucket SMALLINT NOT NULL,
          DROP CONSTRAINT ${table}_pkey, ADD CONSTRAINT ${table}_pkey PRIMARY KEY (${key}, bucket)`)
      }
      yield* sql`DROP INDEX sessions_by_id`
      yield* sql`CREATE UNIQUE INDEX sessions_by_id ON sessions (project_id, session_id, bucket)`
      yield* sql`CREATE TABLE session_counters (
        project_id INTEGER NOT NULL,
        bucket SMALLINT NOT NULL,
        last_session INTEGER NOT NULL,
        PRIMARY KEY (project_id, bucket)
      )`
      // Not with tables of others that have as many shards: Citus would move them together, and lose rows if they belong to several roles.
      yield* sql`SELECT create_distributed_table('sessions', 'bucket', colocate_with := 'none')`
      for (const table of [...Object.keys(keys), "session_counters"]) {
        if (table === "sessions") continue
        yield* sql.unsafe(`SELECT create_distributed_table('${table}', 'bucket', colocate_with := 'sessions')`)
      }
      yield* sql`SELECT create_distributed_table('agent_usage', 'stripe', colocate_with := 'sessions')`
      return { migrated, shards: (yield* shards).length, isNew: true }
    })
  )
})
