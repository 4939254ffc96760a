/** What only a storage of several nodes has: each of them commits the events of its sessions. */
import type { SessionId } from "../domain/Session.ts"
import type { Result } from "./Result.ts"

export interface Nodes {
  /** The lane of a session's events. One call of `appendEvents` with events of one lane costs less than with events of several. */
  readonly laneOf: (session: SessionId) => number
  /** The node that commits the events of a lane, as far as the storage knows. */
  readonly nodeOf: (lane: number) => number
  /** How many of the concurrent calls may be for one of the nodes: one that does not answer leaves some to the others. */
  readonly concurrency: number
  /**
   * Fails while a node of the storage has not committed its part of a transaction that others see. What was erased may still be on
   * that node.
   */
  readonly checkCommits: Result<void>
}
