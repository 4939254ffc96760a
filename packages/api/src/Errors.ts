/**
 * The errors on the wire: the domain's own, their tag under the name `type`, and those that only a request over HTTP can
 * meet.
 */
import * as Errors from "@tachograph/core/domain/Errors"
import { Effect, Schema, SchemaTransformation } from "effect"
import { HttpApiSchema } from "effect/http-api"

const onTheWire = { _tag: "type" } as const

export const AgentNotFound = Errors.AgentNotFound.pipe(Schema.encodeKeys(onTheWire))
export const AgentVersionNotFound = Errors.AgentVersionNotFound.pipe(Schema.encodeKeys(onTheWire))
export const EventNotFound = Errors.EventNotFound.pipe(Schema.encodeKeys(onTheWire))
export const FingerprintNotFound = Errors.FingerprintNotFound.pipe(Schema.encodeKeys(onTheWire))
export const IdempotencyKeyReused = Errors.IdempotencyKeyReused.pipe(Schema.encodeKeys(onTheWire))
export const Overloaded = Errors.Overloaded.pipe(Schema.encodeKeys(onTheWire))
export const PersonNotFound = Errors.PersonNotFound.pipe(Schema.encodeKeys(onTheWire))
export const SessionNotFound = Errors.SessionNotFound.pipe(Schema.encodeKeys(onTheWire))
export const SessionIdEmpty = Errors.SessionIdEmpty.pipe(Schema.encodeKeys(onTheWire))

/** What went wrong with the database stays in the log. */
export const StorageUnavailable = Schema.Struct({ type: Schema.Literal("storage-unavailable") }).pipe(
  Schema.decodeTo(
    Schema.toType(Errors.StorageUnavailable),
    SchemaTransformation.transformEffect({
      decode: () => Effect.succeed(new Errors.StorageUnavailable({ cause: undefined })),
      encode: () => Effect.succeed({ type: "storage-unavailable" as const })
    })
  ),
  HttpApiSchema.status(503)
)

/** No key, or none that is valid; one body for all reasons. */
export class UnauthorizedError extends Schema.TaggedError<UnauthorizedError>()(
  "unauthorized",
  {},
  { httpApiStatus: 401 }
) {}
export const Unauthorized = UnauthorizedError.pipe(Schema.encodeKeys(onTheWire))

/** The key is valid and lacks the scope. */
export class ForbiddenError extends Schema.TaggedError<ForbiddenError>()("forbidden", {}, { httpApiStatus: 403 }) {}
export const Forbidden = ForbiddenError.pipe(Schema.encodeKeys(onTheWire))

/** The body is larger than the server takes, as sent or decompressed. */
export class PayloadTooLargeError extends Schema.TaggedError<PayloadTooLargeError>()(
  "payload-too-large",
  {},
  { httpApiStatus: 413 }
) {}
export const PayloadTooLarge = PayloadTooLargeError.pipe(Schema.encodeKeys(onTheWire))

/** The body's `Content-Encoding` is none of gzip, deflate, br and zstd. */
export class UnsupportedContentEncodingError extends Schema.TaggedError<UnsupportedContentEncodingError>()(
  "unsupported-content-encoding",
  {},
  { httpApiStatus: 415 }
) {}
export const UnsupportedContentEncoding = UnsupportedContentEncodingError.pipe(Schema.encodeKeys(onTheWire))

/** What any endpoint with a body may answer, besides validation errors. */
export const bodyErrors = [PayloadTooLarge, UnsupportedContentEncoding, Overloaded] as const
