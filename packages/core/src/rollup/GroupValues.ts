/** The values of groups, as an answer says them. */
import * as DateTime from "effect/DateTime"
import * as ProviderNames from "../domain/ProviderNames.ts"
import type { Dimension, UsageGroup } from "../domain/UsageGroup.ts"
import { LocalTime } from "./LocalTime.ts"
import type { GroupKey } from "./UsageGroups.ts"
import type { SessionSums } from "./SessionSums.ts"
import type { Tally } from "./Tally.ts"

const fieldOf = (dimension: Dimension) => (dimension === "agent_version" ? "agentVersion" : dimension)

const noSums = { sessions: null, unpricedSessions: null, costUsdPerSession: null, lastEventAt: null }

const ofSessions = (sums: SessionSums) => ({
  sessions: sums.sessions,
  unpricedSessions: sums.unpricedSessions,
  costUsdPerSession: sums.costPerSession,
  lastEventAt: DateTime.makeUnsafe(sums.lastMs)
})

/** `nameOf` says the name behind a key that is a number. Without `sums`, what sessions add up to is not known. */
export const of = (
  dimensions: ReadonlyArray<Dimension>,
  keys: ReadonlyArray<GroupKey>,
  tally: Tally,
  sums: SessionSums | undefined,
  time: LocalTime,
  nameOf: (dimension: Dimension, key: number) => string | null
): UsageGroup => {
  const valueOf = (dimension: Dimension, key: GroupKey): string | null => {
    if (typeof key !== "number") return key
    if (dimension === "day") return LocalTime.formatDay(key)
    if (dimension === "hour") return time.formatHour(key)
    if (dimension === "api") return ProviderNames.apiOf(key) ?? null
    return nameOf(dimension, key)
  }
  const values = dimensions.map((dimension, index) => [fieldOf(dimension), valueOf(dimension, keys[index]!)])
  return {
    ...Object.fromEntries(values),
    ...tally.sums,
    ...(sums === undefined ? noSums : ofSessions(sums)),
    ...tally.durationPercentiles
  }
}
