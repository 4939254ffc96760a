/** Steps of a session: what an agent did between its calls of models, as tracing tells it. A step counts as no call. */
import * as Schema from "effect/Schema"
import { Recorded } from "./Recorded.ts"
import { SpanId } from "./Trace.ts"

export const stepKinds = ["tool", "agent", "retrieval", "embedding", "chain", "guardrail", "other"] as const

export const StepKind = Schema.Literals(stepKinds)
export type StepKind = typeof StepKind.Type

/** As OpenTelemetry has it. */
export const StepStatus = Schema.Literals(["unset", "ok", "error"])
export type StepStatus = typeof StepStatus.Type

/** What a step says of itself, beside its trace, its span, its start and its attributes. */
export const stepFields = {
  parentSpanId: Schema.NullOr(SpanId),
  name: Schema.String,
  kind: StepKind,
  /** In milliseconds. */
  durationMs: Schema.NullOr(Schema.Finite),
  status: StepStatus,
  /** What is said about the status. */
  message: Schema.NullOr(Schema.String),
  /** What who recorded it says of it: that an attribute was cut, for example. */
  recorded: Schema.NullOr(Recorded)
}
