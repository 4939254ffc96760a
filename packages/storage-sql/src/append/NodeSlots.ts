/**
 * Bounds the appends to each node of a distributed database. A node that does not answer keeps connections after the operation has given
 * up and its batch has ended for the queue: Citus cannot cancel a COMMIT, and the driver waits for the answer to a cancellation. Such an
 * append also keeps its slot, so that appends to the node never get the connections that others need.
 */
import type { Nodes, SessionId } from "@tachograph/core"
import * as Effect from "effect/Effect"
import * as Semaphore from "effect/Semaphore"

/** How long the driver takes at most to give up a connection with a statement that is not cancelled. */
const cancelling = "6 seconds"

/** So many appends of a node at the same time. Others wait, without a connection. */
export const make = ({ concurrency, laneOf, nodeOf }: Nodes) => {
  const slots = new Map<number, Semaphore.Semaphore>()
  /** `session` is that of what is appended first. */
  return <A, E>(session: SessionId | undefined, append: Effect.Effect<A, E>): Effect.Effect<A, E> => {
    if (session === undefined) return append
    const node = nodeOf(laneOf(session))
    let ofNode = slots.get(node)
    if (ofNode === undefined) slots.set(node, (ofNode = Semaphore.makeUnsafe(concurrency)))
    return ofNode.withPermits(1)(Effect.onInterrupt(append, () => Effect.sleep(cancelling)))
  }
}
