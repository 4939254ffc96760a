/** The errors on the wire, with their tag as `type`: those of the domain, and those that only occur over HTTP. */
import * as Errors from "@tachograph/core/domain/Errors"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import * as SchemaTransformation from "effect/SchemaTransformation"
import { HttpApiSchema } from "effect/http-api"

const tagAsType = { _tag: "type" } as const

export const AgentNotFound = Errors.AgentNotFound.pipe(Schema.encodeKeys(tagAsType))
export const AgentVersionNotFound = Errors.AgentVersionNotFound.pipe(Schema.encodeKeys(tagAsType))
export const EventDamaged = Errors.EventDamaged.pipe(Schema.encodeKeys({ ...tagAsType, eventId: "event_id" }))
export const EventNotFound = Errors.EventNotFound.pipe(Schema.encodeKeys(tagAsType))
export const FingerprintNotFound = Errors.FingerprintNotFound.pipe(Schema.encodeKeys(tagAsType))
export const IdempotencyKeyReused = Errors.IdempotencyKeyReused.pipe(Schema.encodeKeys(tagAsType))
export const Overloaded = Errors.Overloaded.pipe(Schema.encodeKeys(tagAsType))
export const PersonNotFound = Errors.PersonNotFound.pipe(Schema.encodeKeys(tagAsType))
export const SharedTextDamaged = Errors.SharedTextDamaged.pipe(Schema.encodeKeys(tagAsType))
export const SharedTextNotFound = Errors.SharedTextNotFound.pipe(Schema.encodeKeys(tagAsType))
export const SessionNotFound = Errors.SessionNotFound.pipe(Schema.encodeKeys(tagAsType))
export const SessionIdEmpty = Errors.SessionIdEmpty.pipe(Schema.encodeKeys(tagAsType))

/** The database's error is in the log only. A message says what to do where the database is damaged, or an erasure is not complete. */
export const StorageUnavailable = Schema.Struct({
  type: Schema.Literal("storage-unavailable"),
  message: Schema.optionalKey(Schema.String)
}).pipe(
  Schema.decodeTo(
    Schema.toType(Errors.StorageUnavailable),
    SchemaTransformation.transformEffect({
      decode: () => Effect.succeed(new Errors.StorageUnavailable({ cause: undefined })),
      encode: () => Effect.succeed({ type: "storage-unavailable" as const })
    })
  ),
  HttpApiSchema.status(503)
)

/** The key is missing, malformed, unknown, expired or revoked. One body for all of them, so that it gives nothing away. */
export class UnauthorizedError extends Schema.TaggedError<UnauthorizedError>()(
  "unauthorized",
  {},
  { httpApiStatus: 401 }
) {}
export const Unauthorized = UnauthorizedError.pipe(Schema.encodeKeys(tagAsType))

/** The key is valid but lacks the scope. */
export class ForbiddenError extends Schema.TaggedError<ForbiddenError>()("forbidden", {}, { httpApiStatus: 403 }) {}
export const Forbidden = ForbiddenError.pipe(Schema.encodeKeys(tagAsType))

/** The host's rule for keys did not answer in time. Nothing of the request was stored. */
export class AuthorizationUnavailableError extends Schema.TaggedError<AuthorizationUnavailableError>()(
  "authorization-unavailable",
  {},
  { httpApiStatus: 503 }
) {}
export const AuthorizationUnavailable = AuthorizationUnavailableError.pipe(Schema.encodeKeys(tagAsType))

/** The body exceeds the server's limit, as sent or decompressed. */
export class PayloadTooLargeError extends Schema.TaggedError<PayloadTooLargeError>()(
  "payload-too-large",
  {},
  { httpApiStatus: 413 }
) {}
export const PayloadTooLarge = PayloadTooLargeError.pipe(Schema.encodeKeys(tagAsType))

/** The body's `Content-Encoding` is not gzip, deflate, br or zstd. */
export class UnsupportedContentEncodingError extends Schema.TaggedError<UnsupportedContentEncodingError>()(
  "unsupported-content-encoding",
  {},
  { httpApiStatus: 415 }
) {}
export const UnsupportedContentEncoding = UnsupportedContentEncodingError.pipe(Schema.encodeKeys(tagAsType))

/** The errors of every endpoint with a body, besides those of every endpoint. */
export const bodyErrors = [PayloadTooLarge, UnsupportedContentEncoding] as const
