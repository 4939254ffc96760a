/**
 * Transactions that several nodes of a distributed database commit. Citus commits them in two phases: all nodes prepare their parts,
 * then each commits its own. If a node stops or a connection breaks in the second phase, Citus says all the same that the commit has
 * succeeded. The transaction is in doubt then: what that node has prepared is not visible until it is back and Citus has it commit, within
 * a minute by default (`citus.recover_2pc_interval`).
 */
import * as Effect from "effect/Effect"
import { type SqlClient, SqlError } from "effect/sql"
import * as SqlFailure from "../SqlFailure.ts"
import * as Bucket from "./Bucket.ts"
import * as Nodes from "./Nodes.ts"

/** What Citus begins the names of this transaction's parts with. */
const ownPart = (sql: SqlClient.SqlClient) =>
  Effect.map(
    sql<{ name: string }>`SELECT concat('citus_', groupid, '_', pg_backend_pid(), '_',
      (get_current_transaction_id()).transaction_number, '_') AS name FROM pg_dist_local_group`,
    ([row]) => row!.name
  )

/** The names of the parts that nodes have prepared, of a transaction whose parts' names begin so. */
const preparedParts = Effect.fnUntraced(function* (sql: SqlClient.SqlClient, part: string) {
  const { areMore, nodes } = yield* Nodes.withParts(sql, part)
  const parts = sql`ARRAY(SELECT gid FROM pg_prepared_xact() AS prepared WHERE starts_with(prepared.gid, ${part}))`
  const ofNodes = yield* Nodes.askEach<string>(sql, nodes, () => parts)
  const ofOthers = areMore ? yield* partsOfAllNodes(sql, part) : []
  return [...ofNodes, ...ofOthers]
})

/** The same of all nodes, also of those without sessions, which `Nodes.askEach` cannot ask. Connects to each. */
const partsOfAllNodes = Effect.fnUntraced(function* (sql: SqlClient.SqlClient, part: string) {
  const command = `SELECT string_agg(gid, ' ') FROM pg_prepared_xact() WHERE starts_with(gid, '${part}')`
  const answers = yield* sql<{ success: boolean; result: string }>`SELECT success, result
    FROM run_command_on_workers(${command})`
  const failed = answers.find(({ success }) => !success)
  if (failed !== undefined) return yield* unavailable(`A node does not say what it has prepared: ${failed.result}`)
  return answers.flatMap(({ result }) => (result === "" ? [] : result.split(" ")))
})

/** Whether a committed transaction whose parts have such names is still only prepared on a node. Ignores those that are committing. */
const areInDoubt = Effect.fnUntraced(function* (sql: SqlClient.SqlClient, part: string) {
  const prepared = preparedParts(sql, part)
  const names = yield* prepared
  if (names.length === 0) return false
  const ended = yield* sql<{
    gid: string
  }>`SELECT gid FROM pg_dist_transaction WHERE ${sql.in("gid", names)} AND NOT EXISTS (
      SELECT 1 FROM get_all_active_transactions() WHERE transaction_number > 0
        AND starts_with(gid, concat('citus_', split_part(gid, '_', 2), '_', process_id, '_', transaction_number, '_')))`
  if (ended.length === 0) return false
  // Those that have ended since the nodes were asked are not prepared any more.
  const still = new Set(yield* prepared)
  return ended.some(({ gid }) => still.has(gid))
})

/** An error as if the database were unreachable, for what may succeed later. */
const unavailable = (message: string, cause?: unknown) =>
  SqlFailure.make(SqlError.ConnectionError, "commit", new Error(message, { cause }))

/** Whether any transaction is in doubt, of any application. Fails if a node that may have one does not answer. */
export const isAnyInDoubt = (sql: SqlClient.SqlClient): Effect.Effect<boolean, SqlError.SqlError> =>
  Bucket.isDistributed(sql) ? areInDoubt(sql, "citus_") : Effect.succeed(false)

/**
 * Fails while any transaction is in doubt, for a change of what all nodes hold: a node would not change rows that it has only prepared,
 * and its copy would differ for good. Call it in the transaction after its first change of such a table, which waits for others that
 * are committing one.
 */
export const refuseInDoubt = (sql: SqlClient.SqlClient): Effect.Effect<void, SqlError.SqlError> =>
  Effect.flatMap(isAnyInDoubt(sql), (isAny) =>
    isAny ? Effect.fail(unavailable("A node has not committed its part of another transaction yet")) : Effect.void
  )

/**
 * Runs a transaction, and returns when all nodes have committed it. Fails, as if the database were unreachable, if it is in doubt: it will
 * be committed, but not yet. `isOfOneNode` says of a result that only one node has changed rows: that node committed in one phase.
 */
export const transaction = <A, E>(
  sql: SqlClient.SqlClient,
  use: Effect.Effect<A, E>,
  isOfOneNode: (result: A) => boolean = () => false
): Effect.Effect<A, E | SqlError.SqlError> =>
  Bucket.isDistributed(sql) ? confirmed(sql, use, isOfOneNode) : sql.withTransaction(use)

const confirmed = Effect.fnUntraced(function* <A, E>(
  sql: SqlClient.SqlClient,
  use: Effect.Effect<A, E>,
  isOfOneNode: (result: A) => boolean
) {
  const [result, part] = yield* sql.withTransaction(
    Effect.flatMap(use, (result) =>
      Effect.map(isOfOneNode(result) ? Effect.succeed(undefined) : ownPart(sql), (part) => [result, part] as const)
    )
  )
  if (part === undefined) return result
  // It is committed: no error of the question may look as if it were not, or it would run again.
  const isInDoubt = yield* Effect.mapError(areInDoubt(sql, part), (error) =>
    unavailable("It is unknown whether all nodes have committed a transaction", error)
  )
  return isInDoubt ? yield* unavailable("A node has not committed its part of a transaction yet") : result
})

/** A transaction that changes rows that all nodes hold. */
export const onAllNodes = <A, E>(
  sql: SqlClient.SqlClient,
  change: Effect.Effect<A, E>
): Effect.Effect<A, E | SqlError.SqlError> =>
  // Before it as well, rather than wait for rows that a transaction in doubt keeps locked.
  transaction(
    sql,
    Effect.tap(Effect.andThen(refuseInDoubt(sql), change), () => refuseInDoubt(sql))
  )
