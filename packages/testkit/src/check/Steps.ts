/** Steps to record. */
import { JsonText, type NewStep, SpanId, TraceId } from "@tachograph/core"
import * as DateTime from "effect/DateTime"

const now = DateTime.makeUnsafe("2026-01-02T03:04:05.678Z")

/** Step `n`, which starts `n` milliseconds later than step 0. */
export const stepOf = (n: number, fields: Partial<NewStep> = {}): NewStep => ({
  traceId: TraceId.make(String(1 + Math.floor(n / 100)).padStart(32, "0")),
  spanId: SpanId.make(String(n).padStart(16, "0")),
  parentSpanId: null,
  name: `step ${n}`,
  kind: "tool",
  occurredAt: DateTime.addDuration(now, n),
  durationMs: 1.5,
  status: "ok",
  message: null,
  attributes: JsonText.unsafe(`{ "n": ${n}.0, "n": 9007199254740993 }`),
  recorded: null,
  ...fields
})
