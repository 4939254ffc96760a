/** What a verification finds wrong. */
import type { EventId } from "../domain/Event.ts"
import type { ProjectId } from "../domain/Project.ts"
import type { SessionId } from "../domain/Session.ts"

export type Problem =
  /** Reads refuse the event with `event-damaged`. */
  | "event-damaged"
  /** Lists have the event, but its id does not lead to it. */
  | "event-not-found"
  /** Its id leads to the event, but a list does not have it. */
  | "event-not-listed"
  /** The event's pack is missing, or marked as erased. */
  | "event-without-pack"
  | "fingerprint-missing"
  /** The pack, or one before it in its chain, is not what was written. */
  | "pack-damaged"
  /** The fields or the text of a step are not what was recorded. */
  | "step-damaged"
  /** The pack that steps name is missing, or not marked as one of steps. */
  | "steps-without-pack"
  /** The pack is not marked as erased, but no event and no step names it. */
  | "pack-without-event"
  /** The texts of an event that was erased. */
  | "texts-not-erased"
  /** Rows name a session that does not exist. */
  | "session-missing"
  /** The session's name does not lead to it. */
  | "session-not-found"
  /** The session has no events, but was not deleted. */
  | "session-empty"
  | "counter-wrong"
  /** The text of the shared piece is not the one that it is named after. */
  | "shared-piece-damaged"
  | "shared-piece-missing"
  /** The session's packs refer to the shared piece, but the session does not own it. */
  | "shared-piece-not-owned"
  /** The session owns the shared piece, but none of its packs refers to it. */
  | "shared-piece-unused"
  | "shared-piece-without-owner"
  /** What is derived from events is not what they add up to. `tachograph reindex` derives it anew. */
  | "rollup-wrong"
  /** The database's own check says that a table or its index is damaged. */
  | "file-damaged"
  /** The storage failed at reading it. */
  | "unreadable"

/** What can no longer be read of a damaged event. */
export type Lost = "fields" | "texts" | "fields and texts"

export interface Finding {
  readonly problem: Problem
  /** Undefined for damage to what all projects share. */
  readonly project?: ProjectId | undefined
  readonly session?: SessionId | undefined
  readonly eventId?: EventId | undefined
  /** Present if an event is damaged. */
  readonly lost?: Lost
  /** What exactly is wrong: a clause without a full stop. Contains nothing of any text. */
  readonly reason: string
}

/** How much was verified so far, and how much is wrong. */
export class Counts {
  projects = 0
  sessions = 0
  /** Events that were looked up in the lists that must have them, which precedes the events' own check. */
  listedEvents = 0
  events = 0
  /** Bytes of `inputs` and `output`, as sent. */
  textBytes = 0
  packs = 0
  sharedPieces = 0
  damagedEvents = 0
  /** All findings, damaged events included. */
  problems = 0
  /** Sessions with deleted events whose payloads are not swept yet: an erasure is running, or was interrupted. */
  pendingErasures = 0
  /** Sessions whose counters could not be compared, because they were being erased from at every attempt. */
  unsettled = 0
}
