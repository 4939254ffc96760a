/**
 * JSON as the text that came: key order, spacing, `1.0` and duplicate keys included. Whoever holds one may rely on its
 * being valid JSON; it is parsed only where its meaning is needed, and never written anew.
 */
import { Schema } from "effect"

export const JsonText = Schema.String.pipe(Schema.brand("JsonText"))
export type JsonText = typeof JsonText.Type

/** Brands a text that is known to be JSON, because it was cut out of one. */
export const unsafe = (text: string): JsonText => text as JsonText

export const of = (value: string | number | boolean | null): JsonText => unsafe(JSON.stringify(value))

/** Joins fields whose values are JSON texts into an object, each value to the letter. */
export const object = (fields: Readonly<Record<string, JsonText>>): JsonText => {
  let text = "{"
  for (const [key, value] of Object.entries(fields)) {
    text += `${text.length > 1 ? "," : ""}${JSON.stringify(key)}:${value}`
  }
  return unsafe(`${text}}`)
}
