/** What is erased, and the steps of a sweep. */
import type { StoredAudit } from "../domain/AuditEntry.ts"
import type { PersonNotFound } from "../domain/Errors.ts"
import type { EventId } from "../domain/Event.ts"
import type { PersonId } from "../domain/Person.ts"
import type { ProjectId } from "../domain/Project.ts"
import type { SessionId } from "../domain/Session.ts"
import type { Change, SweepPack } from "../payload/Sweep.ts"
import type { SessionState } from "./Appending.ts"
import type { Result } from "./Result.ts"

export type Erasable =
  | { readonly person: PersonId }
  | { readonly session: SessionId }
  | { readonly event: EventId }
  /** Events whose ids are less than this one. */
  | { readonly before: EventId }

/** What has steps beside events. */
export type ErasableSteps = Exclude<Erasable, { readonly event: EventId }>

export interface ErasedEvents {
  readonly events: number
  /** The numbers of their sessions if damage keeps these from being marked: they must be swept, but are not listed. */
  readonly unmarked?: ReadonlyArray<number>
}

export interface SweepRequest {
  /** The highest number of the packs to rewrite. */
  readonly to: number
  /**
   * How many packs to read at most, downwards from `to`. Fewer are read if they are large, but at least one. A storage that
   * has read them takes `lastWithinStep`, which bounds what they unpack to.
   */
  readonly limit: number
  /** Packs above this number are also read, as `added`. */
  readonly above: number
  /** What the first step of the sweep got as `SweepPacks.named`. Undefined for the first step. */
  readonly named?: ReadonlySet<number> | undefined
}

export interface SweepPacks {
  readonly state: SessionState
  /** A counter of deletions that never repeats a value. Greater than 0 while the session is pending sweep. */
  readonly pendingSweep: number
  /** The packs at and below `SweepRequest.to`, in ascending order. */
  readonly packs: ReadonlyArray<SweepPack>
  /** Whether `packs` includes the session's first pack. */
  readonly isLast: boolean
  /**
   * The packs that events named at the first step. They are kept even if damage has marked them as erased. Events that are deleted
   * after it leave the session pending for another sweep. Undefined if the storage cannot be damaged.
   */
  readonly named?: ReadonlySet<number> | undefined
  /** The packs above `SweepRequest.above`, in ascending order. */
  readonly added: ReadonlyArray<SweepPack>
}

export interface SweepChanges<A> {
  readonly packs: ReadonlyArray<Change>
  /** How many pieces are erased with these changes. */
  readonly pieces: number
  /**
   * Set by the last step. The session then owns only the shared pieces with these names, and is deleted if it has no events.
   * It stays pending sweep if its counter differs from `pendingSweep`: events were deleted since the sweep began.
   * `remaining` is the number of pieces that its packs have left.
   */
  readonly done:
    | { readonly owned: ReadonlyArray<Uint8Array>; readonly pendingSweep: number; readonly remaining: number }
    | undefined
  readonly value: A
}

/** What the last step of a sweep deleted, or a step of the deletion of a session. */
export interface ErasedAtLast {
  /** Shared pieces that no session owns any more. For a deleted session also those of its packs. */
  readonly pieces: number
  /** The stored bytes of the shared pieces and packs. */
  readonly bytes: number
  /** Whether the session was deleted. */
  readonly session: boolean
}

export interface Erasing {
  /**
   * Deletes at most `limit` events, oldest first, and marks their sessions as pending sweep. Their payloads stay in the
   * packs until the sessions are swept. Adds the entry, if there is one, to the audit log.
   */
  readonly eraseEvents: (
    project: ProjectId,
    which: Erasable,
    limit: number,
    entry?: StoredAudit
  ) => Result<ErasedEvents>
  /** The numbers of the sessions that are pending sweep: events were deleted from them since their last sweep. */
  readonly listPendingSweep: (project: ProjectId, limit: number) => Result<ReadonlyArray<number>>
  /**
   * One step of sweeping a session, in a transaction that excludes appends to it. Reads packs, passes them to `rewrite`,
   * applies the changes that it returns, and increments the session's generation if there are any. Returns undefined if the
   * session does not exist. `rewrite` runs again when the transaction is retried, so it must not keep state between calls.
   */
  readonly sweepPacks: <A>(
    project: ProjectId,
    session: number,
    request: SweepRequest,
    rewrite: (packs: SweepPacks) => SweepChanges<A>
  ) => Result<{ readonly value: A; readonly erased: ErasedAtLast } | undefined>
  /**
   * Deletes at most `limit` packs of a session that has no events, without reading them, and with the last of them the
   * session. Returns undefined if the session does not exist or has events.
   */
  readonly deleteEmptySession: (project: ProjectId, session: number, limit: number) => Result<ErasedAtLast | undefined>
  /** Deletes a person who has no events. Returns false if there are events. */
  readonly deletePerson: (project: ProjectId, id: PersonId) => Result<boolean, PersonNotFound>
}
