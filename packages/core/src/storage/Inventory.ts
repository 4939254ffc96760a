/** All that a storage holds, as a verification goes through it. */
import type { EventId } from "../domain/Event.ts"
import type { SessionId } from "../domain/Session.ts"
import type { CountedSession } from "../domain/StorageAccount.ts"
import type { SweepPack } from "../payload/Sweep.ts"
import type { SessionState } from "./Appending.ts"

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
  /** The number of the agent whose event wrote it. */
  readonly agent: number
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

/** Where the comparison of what is derived with the events goes on. */
export interface DerivedPlace {
  readonly kind: "day" | "week" | "session"
  /** When the day or the week begins, at the earliest (ms), or the number before that of the session. */
  readonly at: number
  /** What the events have made so far. */
  readonly rows: number
  /** The version of what is derived, if it has not changed since the beginning, and otherwise -1. Undefined at the beginning. */
  readonly version: number | undefined
}

export interface DerivedCheck {
  /** What is wrong with it: clauses without a full stop, which contain nothing of any row. */
  readonly damage: ReadonlyArray<string>
  /** Undefined at the end. */
  readonly next: DerivedPlace | undefined
}
