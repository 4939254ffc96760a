/** The ids of W3C Trace Context: lower-case hexadecimal, not all zeros. https://www.w3.org/TR/trace-context/#traceparent-header */
import * as Schema from "effect/Schema"
import * as Hex from "./Hex.ts"
import * as Violation from "./Violation.ts"

const idOf = (digits: number) =>
  Hex.ofDigits(digits, (id) => (/^0+$/.test(id) ? Violation.valueError("an id of zeros is none") : undefined))

export const TraceId = idOf(32).pipe(Schema.brand("TraceId"))
export type TraceId = typeof TraceId.Type

export const SpanId = idOf(16).pipe(Schema.brand("SpanId"))
export type SpanId = typeof SpanId.Type
