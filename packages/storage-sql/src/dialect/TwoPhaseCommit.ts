/**
 * Transactions that several nodes of a distributed database commit. Citus commits them in two phases: all nodes prepare their parts,
 * then each commits its own. If a node stops or a connection breaks in the second phase, Citus says all the same that the commit has
 * come to its end. The transaction is in doubt then: nobody sees what that node has prepared until it is back and Citus has it commit,
 * within a minute by default (`citus.recover_2pc_interval`).
 */
import * as Effect from "effect/Effect"
import { type SqlClient, SqlError } from "effect/sql"
import * as Bucket from "./Bucket.ts"

/** What Citus begins the names of all parts of this transaction with. */
const ownName = (sql: SqlClient.SqlClient) =>
  Effect.map(
    sql<{ name: string }>`SELECT concat('citus_', groupid, '_', pg_backend_pid(), '_',
      (get_current_transaction_id()).transaction_number, '_') AS name FROM pg_dist_local_group`,
    ([row]) => row!.name
  )

/** A bucket of each node that had parts with such names. Nodes without any have no sessions, and are left out. */
const bucketsOf = Effect.fnUntraced(function* (sql: SqlClient.SqlClient, name: string) {
  // Citus keeps the parts of committed transactions for about a minute.
  const shards = yield* sql<{ first: string; last: string; node: number }>`SELECT shardminvalue AS first,
      shardmaxvalue AS last, groupid AS node FROM pg_dist_placement JOIN pg_dist_shard USING (shardid)
    WHERE logicalrelid = CAST('sessions' AS regclass)
      AND groupid IN (SELECT groupid FROM pg_dist_transaction WHERE starts_with(gid, ${name}))`
  const buckets = new Map<number, number>()
  for (const { first, last, node } of shards) {
    const bucket = buckets.has(node) ? undefined : Bucket.between(Number(first), Number(last))
    if (bucket !== undefined) buckets.set(node, bucket)
  }
  return Array.from(buckets.values())
})

/** The names of the parts that the node of a bucket has prepared. Reads no row: the bucket makes it the node that is asked. */
const preparedBy = (sql: SqlClient.SqlClient, bucket: number, name: string) =>
  Effect.map(
    sql<{ names: ReadonlyArray<string> }>`SELECT count(*) AS sessions,
      ARRAY(SELECT gid FROM pg_prepared_xact() AS prepared WHERE starts_with(prepared.gid, ${name})) AS names
      FROM sessions WHERE project_id = -1${Bucket.and(sql, bucket)}`,
    ([row]) => row!.names
  )

/** Whether a transaction is in doubt whose parts have names that begin like this. Leaves out those that have not ended. */
const areInDoubt = Effect.fnUntraced(function* (sql: SqlClient.SqlClient, name: string) {
  const buckets = yield* bucketsOf(sql, name)
  const prepared = yield* Effect.forEach(buckets, (bucket) => preparedBy(sql, bucket, name), {
    concurrency: "unbounded"
  })
  const names = prepared.flat()
  if (names.length === 0) return false
  const inDoubt = yield* sql`SELECT 1 FROM pg_dist_transaction WHERE ${sql.in("gid", names)} AND NOT EXISTS (
      SELECT 1 FROM get_all_active_transactions() WHERE transaction_number > 0
        AND starts_with(gid, concat('citus_', split_part(gid, '_', 2), '_', process_id, '_', transaction_number, '_'))
    ) LIMIT 1`
  return inDoubt.length > 0
})

/** Whether any transaction is in doubt. None is where the database is not distributed. */
export const isAnyInDoubt = (sql: SqlClient.SqlClient): Effect.Effect<boolean, SqlError.SqlError> =>
  Bucket.isDistributed(sql) ? areInDoubt(sql, "citus_") : Effect.succeed(false)

/**
 * Runs a transaction, and returns when all nodes have committed it. Fails, as if the database were unreachable, if it is in doubt: it will
 * be committed, but not yet.
 */
export const transaction = <A, E>(
  sql: SqlClient.SqlClient,
  use: Effect.Effect<A, E>
): Effect.Effect<A, E | SqlError.SqlError> =>
  Bucket.isDistributed(sql)
    ? Effect.gen(function* () {
        const [result, name] = yield* sql.withTransaction(Effect.all([use, ownName(sql)]))
        return (yield* areInDoubt(sql, name)) ? yield* inDoubt() : result
      })
    : sql.withTransaction(use)

const inDoubt = () => {
  const message = "A node has not committed its part of a transaction yet"
  return new SqlError.SqlError({
    reason: new SqlError.ConnectionError({ cause: new Error(message), message, operation: "commit" })
  })
}
