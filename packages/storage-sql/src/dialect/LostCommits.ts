/**
 * Transactions of one node of a distributed database that have ended at the coordinator, but not yet on the node: the connection
 * between the two broke while the node committed. The lock that the coordinator held for it is gone (`CommitOrder.ts`), and its events
 * appear later.
 */
import * as Effect from "effect/Effect"
import type { SqlClient, SqlError } from "effect/sql"
import * as Bucket from "./Bucket.ts"
import * as Nodes from "./Nodes.ts"

/** What Citus knows a transaction by, on all nodes. The numbers begin anew when the coordinator is started. */
const name = "concat(active.transaction_number, ' ', extract(epoch FROM active.transaction_stamp))"

/** The transactions that a coordinator has begun on these nodes, and that write sessions there. */
const writing = (sql: SqlClient.SqlClient, nodes: ReadonlyArray<Nodes.Node>, coordinator: number) => {
  // By the tables' names: the coordinator does not know their numbers on another node.
  const shard = sql`substring(CAST(CAST(held.relation AS regclass) AS text) FROM '_([0-9]+)"?$')`
  return Nodes.askEach<string>(
    sql,
    nodes,
    ({ shards }) => sql`ARRAY(SELECT DISTINCT ${sql.literal(name)} FROM get_all_active_transactions() AS active
      JOIN pg_lock_status() AS held ON held.pid = active.process_id
      WHERE active.initiator_node_identifier = ${coordinator} AND active.transaction_number > 0
        AND held.mode = 'RowExclusiveLock'
        AND ${shard} = ANY(CAST(${`{${shards.join(",")}}`} AS text[])))`
  )
}

/** Whether there are any, in a distributed database. Fails if a node does not answer. */
export const areAny = Effect.fnUntraced(function* (
  sql: SqlClient.SqlClient
): Effect.fn.Return<boolean, SqlError.SqlError> {
  if (!Bucket.isDistributed(sql)) return false
  const [local] = yield* sql<{ group: number; coordinator: number }>`SELECT groupid AS "group", nodeid AS coordinator
    FROM pg_dist_local_group JOIN pg_dist_node USING (groupid)`
  // Where the coordinator has no address, its transactions have no number of a node.
  if (local === undefined) return false
  const { coordinator, group } = local
  const nodes = (yield* Nodes.look(sql)).filter((node) => node.group !== group)
  const found = yield* writing(sql, nodes, coordinator)
  if (found.length === 0) return false
  const active = yield* sql<{
    name: string
  }>`SELECT ${sql.literal(name)} AS name FROM get_all_active_transactions() AS active
    WHERE active.initiator_node_identifier = ${coordinator} AND active.transaction_number > 0`
  const known = new Set(active.map(({ name }) => name))
  const lost = found.filter((name) => !known.has(name))
  if (lost.length === 0) return false
  // Those that have ended everywhere since the nodes were asked are visible now.
  const still = new Set(yield* writing(sql, nodes, coordinator))
  return lost.some((name) => still.has(name))
})
