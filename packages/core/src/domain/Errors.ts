/** The expected failures. The tag is the `type` of the error on the wire; `httpApiStatus` is its HTTP status. */
import * as Schema from "effect/Schema"

const { TaggedError } = Schema

const notFound = { httpApiStatus: 404 }
const refused = { httpApiStatus: 422 }
const damaged = { httpApiStatus: 500 }
const unavailable = { httpApiStatus: 503 }

export class FingerprintNotFound extends TaggedError<FingerprintNotFound>()("fingerprint-not-found", {}, notFound) {}

export class SessionIdEmpty extends TaggedError<SessionIdEmpty>()("session-id-empty", {}, refused) {}

export class AgentNotFound extends TaggedError<AgentNotFound>()("agent-not-found", {}, notFound) {}

export class AgentVersionNotFound extends TaggedError<AgentVersionNotFound>()(
  "agent-version-not-found",
  {},
  notFound
) {}

export class PersonNotFound extends TaggedError<PersonNotFound>()("person-not-found", {}, notFound) {}

export class SessionNotFound extends TaggedError<SessionNotFound>()("session-not-found", {}, notFound) {}

/** The idempotency key was used before with a different body. */
export class IdempotencyKeyReused extends TaggedError<IdempotencyKeyReused>()("idempotency-key-reused", {}, refused) {}

export class EventNotFound extends TaggedError<EventNotFound>()("event-not-found", {}, notFound) {}

export class SharedTextNotFound extends TaggedError<SharedTextNotFound>()("shared-text-not-found", {}, notFound) {}

/** An event exists under the id of one that is imported, and it is another one. */
export class EventIdTaken extends TaggedError<EventIdTaken>()("event-id-taken", {}, refused) {}

/** The id of an event that is imported is none that an event of its session gets, or is one of the future. */
export class EventIdInvalid extends TaggedError<EventIdInvalid>()("event-id-invalid", {}, refused) {}

/** The texts of an event that is imported are not those of its checksum. */
export class ChecksumDiffers extends TaggedError<ChecksumDiffers>()("checksum-differs", {}, refused) {}

/** Another environment is registered under the id of a fingerprint that is imported. */
export class FingerprintIdTaken extends TaggedError<FingerprintIdTaken>()("fingerprint-id-taken", {}, refused) {}

/** The stored bytes of the event are not those that were recorded. Other events are not affected. */
export class EventDamaged extends TaggedError<EventDamaged>()("event-damaged", { eventId: Schema.String }, damaged) {}

/** The stored bytes of a shared text are not those that were recorded. */
export class SharedTextDamaged extends TaggedError<SharedTextDamaged>()("shared-text-damaged", {}, damaged) {}

/** The queue of events is full. Nothing of the request was stored; the client may retry later. */
export class Overloaded extends TaggedError<Overloaded>()("overloaded", {}, unavailable) {}

/**
 * The storage did not respond. The client may retry, best with the same idempotency key: the request may have been stored, if the answer
 * to its commit was lost. If the cause is `Damage`, it will fail again until the storage is repaired.
 */
export class StorageUnavailable extends TaggedError<StorageUnavailable>()(
  "storage-unavailable",
  { cause: Schema.Defect() },
  unavailable
) {}
