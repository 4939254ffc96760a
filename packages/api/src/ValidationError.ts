/** The response to a request that does not match its schema, as in FastAPI with pydantic v2: 422 `{"detail": […]}`. */
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import * as SchemaTransformation from "effect/SchemaTransformation"
import { HttpApiSchema } from "effect/http-api"

export const ErrorDetail = Schema.Struct({
  /** pydantic's error type: `missing`, `string_type`, … */
  type: Schema.String,
  /** `path`, `query`, `header` or `body`, then keys and indexes. */
  loc: Schema.Array(Schema.String),
  msg: Schema.String,
  /** The rejected value; if it is larger than 1 KiB, a short string that says its size. */
  input: Schema.Unknown,
  ctx: Schema.optionalKey(Schema.Record(Schema.String, Schema.Unknown))
})
export type ErrorDetail = typeof ErrorDetail.Type

/** All violations of a request, not only the first. */
export class ValidationFailure extends Schema.TaggedError<ValidationFailure>()(
  "validation-error",
  { detail: Schema.Array(ErrorDetail) },
  { httpApiStatus: 422 }
) {}

export const ValidationError = Schema.Struct({ detail: Schema.Array(ErrorDetail) })
  .annotate({ identifier: "ValidationError" })
  .pipe(
    Schema.decodeTo(
      Schema.toType(ValidationFailure),
      SchemaTransformation.transformEffect({
        decode: ({ detail }) => Effect.succeed(new ValidationFailure({ detail })),
        encode: ({ detail }) => Effect.succeed({ detail })
      })
    ),
    HttpApiSchema.status(422)
  )
