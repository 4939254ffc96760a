/** What is kept about erasures and keys: who did what, and when. Nothing of what was erased. */
import * as Context from "effect/Context"
import * as Schema from "effect/Schema"

export const AuditAction = Schema.Literals([
  "key-created",
  "key-revoked",
  /** It was asked for, and its first events were deleted. */
  "session-erasure",
  /** It is complete. */
  "session-erased",
  "event-erasure",
  "event-erased",
  "person-erasure",
  "person-erased",
  /** A run of the retention that erased something. */
  "retention"
])
export type AuditAction = typeof AuditAction.Type

export class AuditEntry extends Schema.Class<AuditEntry>("AuditEntry")({
  id: Schema.String,
  at: Schema.DateTimeUtcFromString,
  action: AuditAction,
  /** The id of a key, the name of a person who had signed in, or what acted without one. */
  actor: Schema.String,
  /** The id of the key, or the SHA-256 of the name that was erased, in hexadecimal digits; null for the retention. */
  subject: Schema.NullOr(Schema.String),
  /** How many were erased; null where that is not known, or has no meaning. */
  events: Schema.NullOr(Schema.Int)
}) {}

/** As it is stored: its time is in its id. It can be cloned, so that it can cross to another thread. */
export type StoredAudit = Pick<AuditEntry, "id" | "action" | "actor" | "subject" | "events">

/** Who acts: the id of a key, the name of a person who has signed in, or a few words for what is neither. */
export const CurrentActor = Context.Reference<string>("tachograph/core/CurrentActor", {
  defaultValue: () => "in process"
})
