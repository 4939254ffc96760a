/** Reads the JSON text of an object, as a request to a model is one. */
import { JsonValue, Steps } from "@tachograph/core"

const noFields = JsonValue.fieldsAt([])

/**
 * The object; undefined if the text is none. Unless all of it is needed, a long text is only checked, in steps, and the object is
 * empty.
 */
export function* parse(text: Buffer, isNeeded: boolean): Steps.Steps<object | undefined> {
  const isLong = text.length >= Steps.longFromBytes
  const parsed = isLong && !isNeeded ? yield* JsonValue.parseInSteps(text, noFields) : JsonValue.parse(text)
  if (!("value" in parsed)) return undefined
  const { value } = parsed
  return typeof value === "object" && value !== null && !Array.isArray(value) ? value : undefined
}
