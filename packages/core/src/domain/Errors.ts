/** The expected failures. A tag is the `type` of the error on the wire; the status that goes with it is here too. */
import { Schema } from "effect"

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

/** The key came with another body before. */
export class IdempotencyKeyReused extends Schema.TaggedError<IdempotencyKeyReused>()(
  "idempotency-key-reused",
  {},
  { httpApiStatus: 422 }
) {}

export class EventNotFound extends Schema.TaggedError<EventNotFound>()("event-not-found", {}, { httpApiStatus: 404 }) {}

/** More is waiting to be written than may wait. Nothing of the request was kept; worth another try, later. */
export class Overloaded extends Schema.TaggedError<Overloaded>()("overloaded", {}, { httpApiStatus: 503 }) {}

/** The storage did not answer, and nothing of the request was kept. Worth another try. */
export class StorageUnavailable extends Schema.TaggedError<StorageUnavailable>()(
  "storage-unavailable",
  { cause: Schema.Defect() },
  { httpApiStatus: 503 }
) {}
