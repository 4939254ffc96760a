/** Counts what OpenTelemetry told and what is no call and no step, by the scope or the name that says it. */
import type * as Effect from "effect/Effect"
import * as Metric from "effect/Metric"

const leftOut = Metric.counter("tachograph_otlp_left_out_total", {
  description: "Spans, log records and posts of metrics that were left out, by their scope or name",
  incremental: true
})

/** Names that are counted apart: programs choose them. */
const maxNames = 100
const maxLength = 100

const names = new Set<string>()

const nameOf = (name: string): string => {
  const short = name.slice(0, maxLength) || "none"
  if (!names.has(short) && names.size >= maxNames) return "other"
  names.add(short)
  return short
}

export const count = (what: "span" | "log" | "metrics" | "late", name: string, added: number): Effect.Effect<void> =>
  Metric.update(Metric.withAttributes(leftOut, { what, name: nameOf(name) }), added)
