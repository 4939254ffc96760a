/** The ids of W3C Trace Context: lower-case hexadecimal, not all zeros. https://www.w3.org/TR/trace-context/#traceparent-header */
import * as Schema from "effect/Schema"
import * as Violation from "./Violation.ts"

const hex = (digits: number) => {
  const pattern = `^[0-9a-f]{${digits}}$`
  const form = new RegExp(pattern)
  const mismatch = {
    type: "string_pattern_mismatch",
    msg: `String should match pattern '${pattern}'`,
    ctx: { pattern }
  }
  const zeros = "0".repeat(digits)
  return Schema.String.check(
    Violation.check(
      (id) => {
        if (!form.test(id)) return mismatch
        return id === zeros ? Violation.valueError("an id of zeros is none") : undefined
      },
      { expected: `${digits} hexadecimal digits in lower case`, toJsonSchema: () => ({ pattern }) }
    )
  )
}

export const TraceId = hex(32).pipe(Schema.brand("TraceId"))
export type TraceId = typeof TraceId.Type

export const SpanId = hex(16).pipe(Schema.brand("SpanId"))
export type SpanId = typeof SpanId.Type
