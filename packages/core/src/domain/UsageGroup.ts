import * as Schema from "effect/Schema"
import { sumFields } from "./Sums.ts"

/** What events can be grouped by. */
export const dimensions = ["hour", "day", "agent", "agent_version", "model", "person", "session", "api"] as const
export type Dimension = (typeof dimensions)[number]

/** A value of a dimension; null for events without one. */
const Value = Schema.optionalKey(Schema.NullOr(Schema.String))

/** Milliseconds, within 1 % between 0.01 ms and 11 days; null if no event has a duration. */
const DurationMs = Schema.NullOr(Schema.Finite)

export const UsageGroup = Schema.Struct({
  /** The local hour: `2026-11-23T10:00:00+01:00`. */
  hour: Value,
  /** The local day: `2026-11-23`. */
  day: Value,
  agent: Value,
  agentVersion: Value,
  model: Value,
  person: Value,
  session: Value,
  api: Value,
  ...sumFields,
  durationMsP50: DurationMs,
  durationMsP95: DurationMs,
  durationMsP99: DurationMs
})
export type UsageGroup = typeof UsageGroup.Type
