/** Events, packs and pieces as a storage keeps them. */
import type * as DateTime from "effect/DateTime"
import type { EventId, EventSummary } from "../domain/Event.ts"
import type { EventChecksums } from "../domain/EventChecksums.ts"
import type { FingerprintId } from "../domain/Fingerprint.ts"
import type { JsonText } from "../domain/JsonText.ts"

export interface StoredSummary {
  /** The id as it is stored, even if nothing else can be read. */
  readonly id: EventId
  /** Undefined if its fields are not what an event may have. Not compared with the checksum. */
  readonly summary: EventSummary | undefined
  readonly checksums: EventChecksums
  /** By which its facts and its cost were computed. Undefined if that is damaged. */
  readonly rules: string | undefined
}

/** New facts of a stored event. */
export interface FactsChange {
  /** The checksum of the fields as they are stored. */
  readonly was: number
  /** With the new facts, and otherwise as it is stored. */
  readonly summary: EventSummary
  /** The checksum of the new fields. */
  readonly checksum: number
}

export interface RulesInUse {
  readonly rules: string
  readonly events: number
}

export interface StoredEvent extends StoredSummary {
  /** The session's number. */
  readonly session: number
  readonly metadata: JsonText | null
  /** The pack that was written for the event. Its bytes are undefined if it is missing, or larger than was asked for. */
  readonly pack: { readonly number: number; readonly bytes: Uint8Array | undefined }
}

export interface EventPack {
  readonly id: EventId
  /** The session's number. */
  readonly session: number
  /** The number of the event's pack. */
  readonly pack: number
  /** Undefined if it is damaged. */
  readonly api: EventSummary["api"] | undefined
  /** In epoch milliseconds: a search passes a million events, for which `DateTime`s would take time. */
  readonly receivedAtMs: number
  readonly occurredAtMs: number | undefined
}

/** Packs of a session. Both ends are inclusive. No two ranges of a session overlap. */
export interface SessionRange {
  readonly session: number
  readonly from: number
  readonly to: number
}

export interface RangedPack {
  readonly session: number
  readonly number: number
  readonly bytes: Uint8Array | undefined
  /** Whether the pack's event, or one of its steps, still exists. */
  readonly isKept: boolean
  /** Whether it was written for steps, and not for an event. */
  readonly isOfSteps: boolean
  /** Whether events were ever erased from the session, or steps were added to it: others may have what is in their packs. */
  readonly isOfErased: boolean
}

export interface StoredFingerprint {
  readonly id: FingerprintId
  /** As `Fingerprint.toText` writes it. */
  readonly fields: JsonText
  readonly createdAt: DateTime.Utc
}

/** A shared piece as a storage keeps it. */
export interface StoredShared {
  readonly sha256: Uint8Array
  readonly bytes: Uint8Array
  /** Whether nothing else uses the memory of `bytes`, so that a reader may free it. */
  readonly isOwned?: boolean
}
