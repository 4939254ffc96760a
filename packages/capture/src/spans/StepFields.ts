/** What a span that is a step is recorded with. */
import { jsonOf } from "./JsonText.ts"
import { isFailed, messageOf } from "./Outcome.ts"
import type { Attributes, Span, Value } from "./Span.ts"

/** The longest text of an attribute that is kept whole (UTF-16 units). */
export const maxAttribute = 16 * 1024

/** The longest list or object of one: as JSON text (UTF-16 units). */
const isTooLong = (value: Value): boolean =>
  typeof value === "string"
    ? value.length > maxAttribute
    : typeof value === "object" && jsonOf(value).length > maxAttribute

/** The beginning of a text, without half a character at its end. */
const beginningOf = (text: string): string => text.slice(0, maxAttribute).toWellFormed()

const shortened = (value: Value): Value => beginningOf(typeof value === "string" ? value : jsonOf(value))

interface StepFields {
  /** The JSON text of the attributes as they came, but for the ends of long ones. */
  readonly attributes: string
  /** The keys of those that are cut. */
  readonly cut: ReadonlyArray<string>
  readonly status: "unset" | "ok" | "error"
  readonly message: string | null
}

export const stepFieldsOf = (span: Span): StepFields => {
  const cut = Array.from(span.attributes).flatMap(([key, value]) => (isTooLong(value) ? [key] : []))
  const kept: Attributes = new Map(
    Array.from(span.attributes, ([key, value]) => [key, cut.includes(key) ? shortened(value) : value])
  )
  const said = span.status.code === 1 ? "ok" : "unset"
  const message = messageOf(span)
  return {
    attributes: jsonOf(kept),
    cut,
    status: isFailed(span) ? "error" : said,
    message: message === "" ? null : beginningOf(message)
  }
}
