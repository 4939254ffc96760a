/** The expected failures. The tag is the `type` of the error on the wire; `httpApiStatus` is its HTTP status. */
import * as Schema from "effect/Schema"

export class FingerprintNotFound extends Schema.TaggedError<FingerprintNotFound>()(
  "fingerprint-not-found",
  {},
  { httpApiStatus: 404 }
) {}

export class SessionIdEmpty extends Schema.TaggedError<SessionIdEmpty>()(
  "session-id-empty",
  {},
  { httpApiStatus: 422 }
) {}

export class AgentNotFound extends Schema.TaggedError<AgentNotFound>()("agent-not-found", {}, { httpApiStatus: 404 }) {}

export class AgentVersionNotFound extends Schema.TaggedError<AgentVersionNotFound>()(
  "agent-version-not-found",
  {},
  { httpApiStatus: 404 }
) {}

export class PersonNotFound extends Schema.TaggedError<PersonNotFound>()(
  "person-not-found",
  {},
  { httpApiStatus: 404 }
) {}

export class SessionNotFound extends Schema.TaggedError<SessionNotFound>()(
  "session-not-found",
  {},
  { httpApiStatus: 404 }
) {}

/** The idempotency key was used before with a different body. */
export class IdempotencyKeyReused extends Schema.TaggedError<IdempotencyKeyReused>()(
  "idempotency-key-reused",
  {},
  { httpApiStatus: 422 }
) {}

export class EventNotFound extends Schema.TaggedError<EventNotFound>()("event-not-found", {}, { httpApiStatus: 404 }) {}

export class SharedTextNotFound extends Schema.TaggedError<SharedTextNotFound>()(
  "shared-text-not-found",
  {},
  { httpApiStatus: 404 }
) {}

/** An event exists under the id of one that is imported, and it is another one. */
export class EventIdTaken extends Schema.TaggedError<EventIdTaken>()("event-id-taken", {}, { httpApiStatus: 422 }) {}

/** The id of an event that is imported is none that an event of its session gets, or is one of the future. */
export class EventIdInvalid extends Schema.TaggedError<EventIdInvalid>()(
  "event-id-invalid",
  {},
  { httpApiStatus: 422 }
) {}

/** The texts of an event that is imported are not those of its checksum. */
export class ChecksumDiffers extends Schema.TaggedError<ChecksumDiffers>()(
  "checksum-differs",
  {},
  { httpApiStatus: 422 }
) {}

/** Another environment is registered under the id of a fingerprint that is imported. */
export class FingerprintIdTaken extends Schema.TaggedError<FingerprintIdTaken>()(
  "fingerprint-id-taken",
  {},
  { httpApiStatus: 422 }
) {}

/** The stored bytes of the event are not those that were recorded. Other events are not affected. */
export class EventDamaged extends Schema.TaggedError<EventDamaged>()(
  "event-damaged",
  { eventId: Schema.String },
  { httpApiStatus: 500 }
) {}

/** The stored bytes of a shared text are not those that were recorded. */
export class SharedTextDamaged extends Schema.TaggedError<SharedTextDamaged>()(
  "shared-text-damaged",
  {},
  { httpApiStatus: 500 }
) {}

/** The queue of events is full. Nothing of the request was stored; the client may retry later. */
export class Overloaded extends Schema.TaggedError<Overloaded>()("overloaded", {}, { httpApiStatus: 503 }) {}

/**
 * The storage did not respond. The client may retry, best with the same idempotency key: the request may have been stored, if the answer
 * to its commit was lost. If the cause is `Damage`, it will fail again until the storage is repaired.
 */
export class StorageUnavailable extends Schema.TaggedError<StorageUnavailable>()(
  "storage-unavailable",
  { cause: Schema.Defect() },
  { httpApiStatus: 503 }
) {}
