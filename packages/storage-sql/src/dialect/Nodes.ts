/** The nodes of a distributed database that have sessions. */
import * as Effect from "effect/Effect"
import type { SqlClient, SqlError, Statement } from "effect/sql"
import * as Bucket from "./Bucket.ts"

export interface Node {
  /** Citus' number of the node's group. */
  readonly group: number
  /** What holds a statement to this node: a bucket of its. */
  readonly bucket: number
  /** Its shards of `sessions`. */
  readonly shards: ReadonlyArray<Shard>
}

export interface Shard {
  readonly id: string
  /** The lowest hash. */
  readonly first: number
}

export const find = Effect.fnUntraced(function* (
  sql: SqlClient.SqlClient
): Effect.fn.Return<ReadonlyArray<Node>, SqlError.SqlError> {
  const rows = yield* sql<{ id: string | number; first: string; last: string; group: number }>`SELECT
      shardid AS id, shardminvalue AS first, shardmaxvalue AS last, groupid AS "group"
    FROM pg_dist_placement JOIN pg_dist_shard USING (shardid)
    WHERE shardstate = 1 AND logicalrelid = CAST('sessions' AS regclass)`
  return Array.from(Map.groupBy(rows, ({ group }) => group).entries()).flatMap(([group, ofNode]) => {
    const bucket = ofNode.map(({ first, last }) => Bucket.inShard(Number(first), Number(last))).find(isDefined)
    const shards = ofNode.map(({ first, id }) => ({ id: String(id), first: Number(first) }))
    return bucket === undefined ? [] : [{ group, bucket, shards }]
  })
})

const isDefined = <A>(value: A | undefined): value is A => value !== undefined

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
