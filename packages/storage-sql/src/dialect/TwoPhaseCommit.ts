/**
 * Transactions that several nodes of a distributed database commit. Citus commits them in two phases: all nodes prepare their parts,
 * then each commits its own. If a node stops or a connection breaks in the second phase, Citus says all the same that the commit has
 * come to its end. The transaction is in doubt then: nobody sees what that node has prepared until it is back and Citus has it commit,
 * within a minute by default (`citus.recover_2pc_interval`).
 */
import * as Effect from "effect/Effect"
import { type SqlClient, SqlError } from "effect/sql"
import * as Bucket from "./Bucket.ts"

/** What the names begin with of all parts of this transaction, which Citus numbers. */
const ownName = (sql: SqlClient.SqlClient) =>
  Effect.map(
    sql<{ name: string }>`SELECT concat('citus_', groupid, '_', pg_backend_pid(), '_',
      (get_current_transaction_id()).transaction_number, '_') AS name FROM pg_dist_local_group`,
    ([row]) => row!.name
  )

/**
 * Whether a transaction is in doubt whose parts have names that begin like this. Asks the nodes that had parts in the last minutes, which
 * Citus keeps a list of; a node that does not answer may have one in doubt. Leaves out transactions that have not ended.
 */
const areInDoubt = (sql: SqlClient.SqlClient, name: string): Effect.Effect<boolean, SqlError.SqlError> =>
  Effect.map(
    sql<{ is_in_doubt: boolean }>`WITH committed AS MATERIALIZED (
        SELECT gid, groupid FROM pg_dist_transaction WHERE starts_with(gid, ${name})
      ), node AS (
        SELECT array_agg(nodename) AS names, array_agg(nodeport) AS ports, array_agg(CAST(${prepared} AS text)) AS commands
        FROM pg_dist_node WHERE noderole = 'primary' AND groupid IN (SELECT groupid FROM committed)
      ), answer AS MATERIALIZED (
        SELECT success, result FROM node, master_run_on_worker(names, ports, commands, true) WHERE names IS NOT NULL
      ) SELECT EXISTS (SELECT 1 FROM answer WHERE NOT success) OR EXISTS (
        SELECT 1 FROM answer, unnest(string_to_array(result, ' ')) AS prepared (gid) JOIN committed USING (gid)
        WHERE NOT EXISTS (SELECT 1 FROM get_all_active_transactions() WHERE transaction_number > 0
          AND starts_with(gid, concat('citus_', split_part(gid, '_', 2), '_', process_id, '_', transaction_number, '_')))
      ) AS is_in_doubt`,
    ([row]) => row!.is_in_doubt
  )

/** Run on a node: the names of the parts that it has prepared. */
const prepared = "SELECT coalesce(string_agg(gid, ' '), '') FROM pg_prepared_xacts WHERE database = current_database()"

/** Whether any transaction is in doubt. Never where the database is not distributed. */
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
