import * as Schema from "effect/Schema"
import { NanoDollars, sumFields } from "./Sums.ts"

/** What events can be grouped by. */
export const dimensions = ["hour", "day", "agent", "agent_version", "model", "person", "session", "api"] as const
export type Dimension = (typeof dimensions)[number]

/** A value of a dimension; null for events without one. */
const Value = Schema.optionalKey(Schema.NullOr(Schema.String))

/** Milliseconds, within 1 % between 0.01 ms and 11 days; null if no event has a duration. */
const DurationMs = Schema.NullOr(Schema.Finite)

/** Of the calls of one session that are in the group. Calls without a cost count as nothing. */
const CostPerSession = Schema.Struct({ mean: NanoDollars, median: NanoDollars, p95: NanoDollars })

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
  /** In how many sessions the calls are. Null, like the three that follow, where more events would have to be read than a read may. */
  sessions: Schema.NullOr(Schema.Int),
  /** Sessions with a call that has no cost, or whose cost leaves something out: what they cost is more than is known. */
  unpricedSessions: Schema.NullOr(Schema.Int),
  /** US dollars; null if no call has a cost. */
  costUsdPerSession: Schema.NullOr(CostPerSession),
  /** When the last call took place. */
  lastEventAt: Schema.NullOr(Schema.DateTimeUtcFromString),
  durationMsP50: DurationMs,
  durationMsP95: DurationMs,
  durationMsP99: DurationMs
})
export type UsageGroup = typeof UsageGroup.Type
