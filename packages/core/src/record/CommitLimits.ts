/** Bounds on what a process holds on its way to the storage and to clients, and on what one transaction commits. */
import * as Context from "effect/Context"

/** A bound on events and on the bytes of their bodies. One event alone always fits, whatever its size. */
interface CommitLimit {
  readonly events: number
  readonly bytes: number
}

export interface CommitLimitsValue {
  /**
   * Events whose bodies are complete, until they are answered. An event that waits for a batch for longer than `waitMs`
   * fails with `Overloaded`, so that a client gets an answer even while the database accepts nothing.
   */
  readonly queue: CommitLimit & { readonly waitMs: number }
  /** Bytes of all request bodies that are held at once, complete or not. */
  readonly bodyBudgetBytes: number
  /**
   * Bytes of all answers that are held at once, until their clients have taken them. Small ones count only where they wait behind
   * others on their connections.
   */
  readonly answerBudgetBytes: number
  /** Bytes of all answers that are made while their clients take them, 256 KiB each. They have no length that could be counted. */
  readonly streamBudgetBytes: number
  /** What one transaction commits. */
  readonly batch: CommitLimit
  /** How long closing waits for commits. A storage that never returns would keep it for ever. */
  readonly closingMs: number
}

export const defaultCommitLimits: CommitLimitsValue = {
  queue: { events: 2048, bytes: 32 * 1024 * 1024, waitMs: 400 },
  bodyBudgetBytes: 64 * 1024 * 1024,
  answerBudgetBytes: 32 * 1024 * 1024,
  streamBudgetBytes: 32 * 1024 * 1024,
  batch: { events: 256, bytes: 8 * 1024 * 1024 },
  closingMs: 5_000
}

export const CommitLimits = Context.Reference<CommitLimitsValue>("tachograph/core/CommitLimits", {
  defaultValue: () => defaultCommitLimits
})
