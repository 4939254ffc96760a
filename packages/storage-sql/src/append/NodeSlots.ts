/**
 * Bounds the appends to each node of a distributed database. Citus cannot cancel a COMMIT, so one that a node does not end keeps its
 * connection after the operation has given up. It also keeps its slot: such a node never gets the connections that others need.
 */
import type { AppendEvent } from "@tachograph/core"
import type * as Effect from "effect/Effect"
import * as Semaphore from "effect/Semaphore"
import type { SqlClient } from "effect/sql"
import * as Bucket from "../dialect/Bucket.ts"
import * as Nodes from "../dialect/Nodes.ts"

/** `perNode` appends of a node at the same time. Others wait, without a connection. */
export const make = (sql: SqlClient.SqlClient, perNode: number) => {
  const slots = new Map<number, Semaphore.Semaphore>()
  return <A, E>(events: ReadonlyArray<AppendEvent>, append: Effect.Effect<A, E>): Effect.Effect<A, E> => {
    const [first] = events
    if (first === undefined || !Bucket.isDistributed(sql)) return append
    const node = Nodes.ofLane(sql, Bucket.laneOf(sql, first.summary.session))
    let ofNode = slots.get(node)
    if (ofNode === undefined) slots.set(node, (ofNode = Semaphore.makeUnsafe(perNode)))
    return ofNode.withPermits(1)(append)
  }
}
