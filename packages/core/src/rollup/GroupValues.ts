/** The values of groups, as an answer says them. */
import * as ProviderNames from "../domain/ProviderNames.ts"
import type { Dimension, UsageGroup } from "../domain/UsageGroup.ts"
import { LocalTime } from "./LocalTime.ts"
import type { GroupKey } from "./UsageGroups.ts"
import type { Tally } from "./Tally.ts"

const fieldOf = (dimension: Dimension) => (dimension === "agent_version" ? "agentVersion" : dimension)

/** `nameOf` says the name behind a key that is a number. */
export const of = (
  dimensions: ReadonlyArray<Dimension>,
  keys: ReadonlyArray<GroupKey>,
  tally: Tally,
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
  return { ...Object.fromEntries(values), ...tally.sums, ...tally.durationPercentiles }
}
