/** Wire types that several groups use. */
import * as Violation from "@tachograph/core/domain/Violation"
import * as Predicate from "effect/Predicate"
import * as Schema from "effect/Schema"
import * as SchemaTransformation from "effect/SchemaTransformation"

/**
 * A JSON object with any keys. Its contents are not validated: they are the user's, are stored as text, and may be nested too
 * deeply for a recursive walk.
 */
export const JsonObject = Schema.declare(
  (value): value is { readonly [key: string]: unknown } => Predicate.isObject(value) && !Array.isArray(value),
  {
    expected: "a JSON object",
    toCodecJson: () =>
      Schema.link<{ readonly [key: string]: unknown }>()(
        Schema.Record(Schema.String, Schema.Any),
        SchemaTransformation.passthrough()
      )
  }
).pipe(Violation.annotate({ type: "dict_type", msg: "Input should be a valid dictionary" }))

/** A part of a message: `type` says which. `docs/formats.md` has their fields. Written as text. */
export const MessagePart = Schema.StructWithRest(Schema.Struct({ type: Schema.String }), [
  Schema.Record(Schema.String, Schema.Any)
]).annotate({ identifier: "MessagePart" })

/** May be absent or null, which mean the same. */
export const optional = <S extends Schema.Top>(schema: S) => Schema.optionalKey(Schema.NullOr(schema))
