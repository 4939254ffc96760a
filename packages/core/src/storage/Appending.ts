/** What is appended, and what keeps it from being. */
import * as Data from "effect/Data"
import type * as DateTime from "effect/DateTime"
import type * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import type { StorageUnavailable } from "../domain/Errors.ts"
import type { EventId, EventSummary } from "../domain/Event.ts"
import type { EventChecksums } from "../domain/EventChecksums.ts"
import type { Idempotency } from "../domain/IdempotencyKey.ts"
import type { JsonText } from "../domain/JsonText.ts"
import type { ProjectId } from "../domain/Project.ts"
import type { SessionId } from "../domain/Session.ts"
import type { SharedPiece } from "../payload/format/SharedPiece.ts"
import type { Result } from "./Result.ts"

/** The state of a session that new packs build on. Session numbers are never reused within a project. */
export interface SessionState {
  readonly number: number
  /** Incremented whenever a sweep changes the session's packs. */
  readonly generation: number
  /** The number of the last pack. Packs are numbered from 1. */
  readonly packs: number
  /** The highest piece numbers in use, in the history and among the parts. */
  readonly history: number
  readonly parts: number
}

export interface AppendEvent {
  readonly project: ProjectId
  readonly summary: EventSummary
  readonly checksums: EventChecksums
  /** By which its facts and its cost were computed: at most 255 characters. */
  readonly rules: string
  /** None if undefined. */
  readonly metadata?: JsonText | null | undefined
  readonly pack: NewPack
  readonly idempotency?: Idempotency | undefined
  /** Whether its id was given for this call, and not before, as that of an event which is imported. */
  readonly hasNewId?: boolean | undefined
}

/** A pack, and the session state that it was written against. */
export interface NewPack {
  /** Undefined if the session did not exist when the pack was written. */
  readonly session: Pick<SessionState, "number" | "generation"> | undefined
  /** One more than the session's last pack. */
  readonly number: number
  readonly bytes: Uint8Array
  /** How many pieces the pack adds to the history and to the parts. */
  readonly history: number
  readonly parts: number
  /** Size of its content in bytes, uncompressed. */
  readonly newBytes: number
  /** The shared pieces that it references. Missing ones are stored; the session owns all of them from now on. */
  readonly shared: ReadonlyArray<SharedPiece>
}

/** The sessions whose state differs from the one their packs were written against. Nothing was appended. */
export class SessionConflict extends Schema.TaggedError<SessionConflict>()("session-conflict", {
  sessions: Schema.Array(Schema.Struct({ project: Schema.String, session: Schema.String }))
}) {}

/** An idempotency key in use in a session: the event stored under it, and the hash of that event's body. */
export interface TakenKey {
  readonly project: ProjectId
  readonly session: SessionId
  readonly idempotency: Idempotency
  readonly id: EventId
  readonly receivedAt: DateTime.Utc
}

/** Events exist under some of the idempotency keys. Nothing was appended. */
export class KeyConflict extends Data.TaggedError("key-conflict")<{ readonly taken: ReadonlyArray<TakenKey> }> {}

/** The ids of new events are too old, or not above those of other events. Nothing was appended. */
export class StaleIds extends Data.TaggedError("stale-ids")<{
  /** The time from which new ids would be accepted now, in epoch milliseconds. */
  readonly notBefore: number
}> {}

export interface Appending {
  /**
   * Appends all events or none; the events of one session are given in the order of their packs. Creates missing agents,
   * versions, people and sessions with the defaults of the interface. Agents are numbered from 1 within the project and
   * versions within their agent, without gaps, also under concurrent appends. Dies if an event id exists already.
   *
   * Fails with `SessionConflict` if another writer has appended to a session, or erased from it, since its packs were
   * written. Nothing is appended; the caller writes the packs again from the current state.
   *
   * Fails with `KeyConflict` if events of the same sessions exist under the same idempotency keys. A concurrent transaction
   * that has inserted one of the keys is waited for. Nothing is appended. No two events of one session in a call may have
   * the same key.
   *
   * Fails with `StaleIds` if an event `hasNewId` that may not be above every watermark that was returned. Nothing is appended;
   * the caller gives all of them new ids.
   *
   * Returns the session number of each event. A new session has generation 0.
   */
  readonly appendEvents: (
    events: ReadonlyArray<AppendEvent>
  ) => Result<ReadonlyArray<number>, SessionConflict | KeyConflict | StaleIds>
  /**
   * The same at once, for new events of names that are known, where nothing conflicts: the transaction has run when it returns, and others
   * see it. The effect succeeds when the disk has what was appended: for a single event it is an `Exit`. Returns undefined if nothing was
   * appended: then call `appendEvents`, which does it or says why not. Only storages in the thread of the caller have it.
   */
  readonly appendAtOnce?:
    | ((events: ReadonlyArray<AppendEvent>) => Effect.Effect<ReadonlyArray<number>, StorageUnavailable> | undefined)
    | undefined
  /** Succeeds when what others have appended is kept. It may be read before, so what acknowledges what it only reads waits for it. */
  readonly waitUntilKept: Result<void>
  /** How many calls of `appendEvents` to run concurrently for the best throughput. */
  readonly appendConcurrency: number
}
