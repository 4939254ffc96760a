/** Reads the JSON text of an object, as a request to a model is one. */
import { JsonValue, Steps } from "@tachograph/core"

const noFields = JsonValue.fieldsAt([])

export interface Parsed {
  readonly value: object
  /** False if the text was only checked, and the object is empty. */
  readonly isWhole: boolean
}

/** Undefined if the text is no JSON object. A long text is checked in steps, unless all of it is needed. */
export function* parse(text: Buffer, isNeeded: boolean): Steps.Steps<Parsed | undefined> {
  const isWhole = isNeeded || text.length < Steps.longFromBytes
  const parsed = isWhole ? JsonValue.parse(text) : yield* JsonValue.parseInSteps(text, noFields)
  if (!("value" in parsed)) return undefined
  const { value } = parsed
  return typeof value === "object" && value !== null && !Array.isArray(value) ? { value, isWhole } : undefined
}
