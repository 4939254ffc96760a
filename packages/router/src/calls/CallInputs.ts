/** Reads the JSON text of an object, as a request to a model is one. */
import { JsonValue, type Steps } from "@tachograph/core"

/** What tells a request to a model, or the answer to one, from others: see `recognise`. Of a list, that it has elements. */
const deciding = JsonValue.fieldsAt([
  ["messages", 0, "role"],
  ["messages", 1, "role"],
  ["model"],
  ["input", 0],
  ["prompt", "id"],
  ["previous_response_id"],
  ["conversation", "id"],
  ["contents", 0],
  ["agent"],
  ["background"],
  ["deferred"],
  ["anthropic_beta", 0],
  ["anthropic_version"],
  ["object"],
  ["type"],
  ["choices"],
  ["candidates"],
  ["usage"],
  ["usageMetadata"]
])

/** Undefined if the text is no JSON object. Of a long text, which is read in steps, what decides its format, unless all of it is needed. */
export function* parse(text: Buffer, isNeeded: boolean): Steps.Steps<object | undefined> {
  const parsed = isNeeded ? JsonValue.parse(text) : yield* JsonValue.parseInSteps(text, deciding)
  if (!("value" in parsed)) return undefined
  const { value } = parsed
  return typeof value === "object" && value !== null && !Array.isArray(value) ? value : undefined
}
