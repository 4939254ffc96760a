/** Wire types that more than one group uses. */
import * as Violation from "@tachograph/core/domain/Violation"
import { Predicate, Schema, SchemaTransformation } from "effect"

/**
 * A JSON object of any keys. It is not looked into: what stands in it is the user's, kept as text, and may be nested deeper
 * than any walk could go.
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

/** May be absent or null, which come to the same. */
export const optional = <S extends Schema.Top>(schema: S) => Schema.optionalKey(Schema.NullOr(schema))
