import * as Predicate from "effect/Predicate"
import * as Schema from "effect/Schema"
import * as SchemaTransformation from "effect/SchemaTransformation"
import * as Violation from "./Violation.ts"

/** What is said of an event by what records it, such as the client or the proxy: nothing of it is the application's. */
export interface Recorded {
  /** How many parts of the event were masked. */
  readonly redacted?: number
  /** The sub-agent that made the call, as the program names it that it is a part of. */
  readonly subagent?: string
  /** Other versions may say more. */
  readonly [name: string]: unknown
}

/** The longest, as JSON without white space, in bytes of UTF-8. */
export const maxRecordedBytes = 4 * 1024

const encoder = new TextEncoder()

const notInteger = {
  type: "int_from_float",
  msg: "Input should be a valid integer, got a number with a fractional part"
}

const ofSubagent = (subagent: unknown): Violation.Violation | undefined =>
  subagent === undefined || typeof subagent === "string"
    ? undefined
    : { type: "string_type", msg: "Input should be a valid string" }

const ofRedacted = (redacted: unknown): Violation.Violation | undefined => {
  if (redacted === undefined) return undefined
  if (typeof redacted !== "number") return { type: "int_type", msg: "Input should be a valid integer" }
  if (!Number.isSafeInteger(redacted)) return notInteger
  return redacted < 0 ? Violation.greaterThanEqual(0) : undefined
}

/** What is known of its fields. Others can be anything. */
const fields = { redacted: ofRedacted, subagent: ofSubagent } as const

const tooLong = Violation.valueError(`recorded cannot have more than ${maxRecordedBytes} bytes of JSON`)

/** Kept as a value: of its text, neither blanks nor the digits of a number remain. */
export const Recorded = Schema.declare(
  (value): value is Recorded => Predicate.isObject(value) && !Array.isArray(value),
  {
    expected: "a JSON object",
    toCodecJson: () =>
      Schema.link<Recorded>()(
        Schema.StructWithRest(
          Schema.Struct({ redacted: Schema.optionalKey(Schema.Int), subagent: Schema.optionalKey(Schema.String) }),
          [Schema.Record(Schema.String, Schema.Any)]
        ),
        SchemaTransformation.passthrough()
      )
  }
)
  .pipe(Violation.annotate({ type: "dict_type", msg: "Input should be a valid dictionary" }))
  .annotate({ identifier: "Recorded" })
  .check(
    Schema.makeFilter((value, _ast, options) => {
      for (const [field, violationOf] of Object.entries(fields)) {
        const violation = violationOf(value[field])
        if (violation !== undefined) return { path: [field], issue: Violation.issue(violation, value[field], options) }
      }
      const { length } = encoder.encode(JSON.stringify(value))
      return length > maxRecordedBytes ? Violation.issue(tooLong, value, options) : true
    })
  )
