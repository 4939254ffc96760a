/**
 * JSON as it was received, with its key order, white space, `1.0` and duplicate keys. A value of this type is valid JSON. It
 * is parsed only where its content is needed, and never serialised again.
 */
import * as Schema from "effect/Schema"

export const JsonText = Schema.String.pipe(Schema.brand("JsonText"))
export type JsonText = typeof JsonText.Type

/** Brands a text that is known to be JSON because it is a slice of a valid one. */
export const unsafe = (text: string): JsonText => text as JsonText

export const of = (value: string | number | boolean | null | ReadonlyArray<string>): JsonText =>
  unsafe(JSON.stringify(value))

/** Builds an object from fields whose values are JSON texts. The values are copied verbatim. */
export const object = (fields: Readonly<Record<string, JsonText>>): JsonText => {
  let text = "{"
  for (const [key, value] of Object.entries(fields)) {
    text += `${text.length > 1 ? "," : ""}${JSON.stringify(key)}:${value}`
  }
  return unsafe(`${text}}`)
}
