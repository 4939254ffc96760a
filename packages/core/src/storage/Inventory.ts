/** All that a storage holds, as a verification goes through it. */
import type { EventId } from "../domain/Event.ts"
import type { ProjectId } from "../domain/Project.ts"
import type { SessionId } from "../domain/Session.ts"
import type { CountedSession, ProjectAccount, SessionAccount } from "../domain/StorageAccount.ts"
import type { StorageUsage } from "../domain/StorageUsage.ts"
import type { SweepPack } from "../payload/Sweep.ts"
import type { SessionState } from "./Appending.ts"
import type { Result } from "./Result.ts"

export interface NextSession {
  readonly number: number
  /** Undefined if it does not exist. */
  readonly id: SessionId | undefined
}

export interface SessionEvent {
  readonly id: EventId
  /** The number of its agent. */
  readonly agent: number
}

export interface PackPage {
  /** Undefined if the session does not exist. */
  readonly state: (SessionState & Pick<CountedSession, "pendingSweep">) | undefined
  readonly packs: ReadonlyArray<ListedPack>
  /** Whether these are the last packs. */
  readonly isLast: boolean
}

export interface ListedPack extends SweepPack {
  /** The number of the agent whose event, or whose steps, it was written for. */
  readonly agent: number
  /** Whether it was written for steps, and not for an event. */
  readonly isOfSteps: boolean
}

export interface ListedShared {
  readonly sha256: Uint8Array
  readonly bytes: Uint8Array
  /** The size of its text, as it is stored beside it. */
  readonly size: number
  /** Whether any session owns it. */
  readonly isOwned: boolean
  /** As it is stored beside it. */
  readonly checksum: number
}

export interface TableCheck {
  readonly table: string
  /** What is wrong with it: clauses without a full stop, which contain nothing of any row. */
  readonly damage: ReadonlyArray<string>
}

export interface Inventory {
  /** Read from counters that appends and erasures maintain. `sessions` is the number of largest sessions to list. */
  readonly usage: (project: ProjectId, sessions: number) => Result<StorageUsage>
  /** The session with the lowest number above `after` that any row names, whether or not the session exists. */
  readonly nextSession: (project: ProjectId, after: number) => Result<NextSession | undefined>
  /**
   * The ids of at most `limit` events of a session: in the order of the numbers of their agents, then of the ids. The ones
   * after another event, if it is given.
   */
  readonly sessionEvents: (
    project: ProjectId,
    session: number,
    after: SessionEvent | undefined,
    limit: number
  ) => Result<ReadonlyArray<SessionEvent>>
  /**
   * The packs of a session above a number, in ascending order, with the session's state, from one snapshot. As many as have
   * at most `maxBytes` in total; at least one if there are any.
   */
  readonly listPacks: (project: ProjectId, session: number, above: number, maxBytes: number) => Result<PackPage>
  /**
   * The shared pieces whose names are greater than `after`, in the order of their names, from one snapshot. As many as have
   * at most `maxBytes` of stored bytes in total; at least one if there are any.
   */
  readonly listShared: (
    project: ProjectId,
    after: Uint8Array | undefined,
    maxBytes: number
  ) => Result<ReadonlyArray<ListedShared>>
  /** What is counted of a session, beside the counters. From one snapshot; takes time in proportion to its rows. */
  readonly sessionAccount: (project: ProjectId, session: number) => Result<SessionAccount>
  /** The same of what the sessions of a project share. */
  readonly projectAccount: (project: ProjectId) => Result<ProjectAccount>
  /**
   * The database's own check of the next table, in the order of their names: that its pages and its indexes are what they should
   * be. Undefined after the last table, or if the database has no such check.
   */
  readonly checkTable: (after: string | undefined) => Result<TableCheck | undefined>
}
