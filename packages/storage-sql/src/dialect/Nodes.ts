/** The nodes of a distributed database that have sessions, and so the lanes of these. */
import * as Effect from "effect/Effect"
import type { SqlClient, SqlError, Statement } from "effect/sql"
import * as Bucket from "./Bucket.ts"

export interface Node {
  /** Citus' number of the node's group. */
  readonly group: number
  /** What holds a statement to this node: one of its buckets. */
  readonly bucket: number
  /** The numbers of its shards of `sessions`. */
  readonly shards: ReadonlyArray<string>
}

/** The groups of the nodes of each lane, by the database's client. */
const groupsOf = new WeakMap<SqlClient.SqlClient, ReadonlyArray<number>>()

/** The group of the node that commits a lane, as it was when the nodes were last looked for. */
export const ofLane = (sql: SqlClient.SqlClient, lane: number): number => groupsOf.get(sql)?.[lane] ?? 0

/** A shard of `sessions`, and the group of its node. */
interface Shard {
  readonly id: string | number
  /** The lowest and the highest hash. */
  readonly first: string
  readonly last: string
  readonly group: number
}

const nodesOf = (shards: ReadonlyArray<Shard>): ReadonlyArray<Node> =>
  Array.from(Map.groupBy(shards, ({ group }) => group).entries()).flatMap(([group, ofNode]) => {
    const bucket = ofNode.map(({ first, last }) => Bucket.inShard(Number(first), Number(last))).find(isDefined)
    return bucket === undefined ? [] : [{ group, bucket, shards: ofNode.map(({ id }) => String(id)) }]
  })

const isDefined = <A>(value: A | undefined): value is A => value !== undefined

const shardsOfSessions = (sql: SqlClient.SqlClient) => sql`SELECT shardid AS id, shardminvalue AS first,
    shardmaxvalue AS last, groupid AS "group"
  FROM pg_dist_placement JOIN pg_dist_shard USING (shardid)
  WHERE shardstate = 1 AND logicalrelid = CAST('sessions' AS regclass)`

/** Looks for the nodes, also for `ofLane`. */
export const look = Effect.fnUntraced(function* (
  sql: SqlClient.SqlClient
): Effect.fn.Return<ReadonlyArray<Node>, SqlError.SqlError> {
  const shards = yield* sql<Shard>`${shardsOfSessions(sql)} ORDER BY CAST(shardminvalue AS integer)`
  // A lane is a shard, in this order.
  groupsOf.set(
    sql,
    shards.map(({ group }) => group)
  )
  return nodesOf(shards)
})

/**
 * The nodes that have committed parts of transactions in two phases, whose parts' names begin so, and whether nodes without sessions
 * have, too. Citus keeps records of them until `citus.recover_2pc_interval` has passed and the node has answered.
 */
export const withParts = Effect.fnUntraced(function* (
  sql: SqlClient.SqlClient,
  part: string
): Effect.fn.Return<{ readonly nodes: ReadonlyArray<Node>; readonly areMore: boolean }, SqlError.SqlError> {
  const rows = yield* sql<Shard | { readonly id: null }>`SELECT shards.*
    FROM (SELECT DISTINCT groupid FROM pg_dist_transaction WHERE starts_with(gid, ${part})) AS parts
    LEFT JOIN (${shardsOfSessions(sql)}) AS shards ON shards."group" = parts.groupid`
  const shards = rows.filter((row): row is Shard => row.id !== null)
  const nodes = nodesOf(shards)
  const groups = new Set(shards.map(({ group }) => group))
  return { nodes, areMore: shards.length < rows.length || nodes.length < groups.size }
})

/** Nodes that are asked at the same time, each over a connection of the client. */
const concurrency = 4

/** Asks each node for an array, and returns them as one. Reads no row: the bucket makes it the node that is asked. */
export const askEach = <A>(
  sql: SqlClient.SqlClient,
  nodes: ReadonlyArray<Node>,
  arrayOf: (node: Node) => Statement.Fragment
): Effect.Effect<ReadonlyArray<A>, SqlError.SqlError> =>
  Effect.map(
    Effect.forEach(
      nodes,
      (node) => sql<{ found: ReadonlyArray<A> }>`SELECT count(*) AS sessions, ${arrayOf(node)} AS found
        FROM sessions WHERE project_id = -1${Bucket.and(sql, node.bucket)}`,
      { concurrency }
    ),
    (answers) => answers.flatMap(([row]) => row!.found)
  )
