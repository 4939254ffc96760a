/** Which events are added up, and by what they are grouped. */
import type { AgentName } from "../domain/Agent.ts"
import type { AgentVersionName } from "../domain/AgentVersion.ts"
import type { Api } from "../domain/Event.ts"
import type { PersonId } from "../domain/Person.ts"
import type { Dimension, UsageGroup } from "../domain/UsageGroup.ts"
import type { Order, Sort } from "../domain/Sort.ts"
import type { GroupKey } from "./UsageGroups.ts"

export interface UsageQuery {
  /** At most two, in the order in which groups are ordered. */
  readonly groupBy: ReadonlyArray<Dimension>
  /** The time zone of days and hours. An IANA name, which `Intl` knows. */
  readonly timeZone: string
  /** Only events whose calls took place at this time or later, and before this time: epoch milliseconds. */
  readonly fromMs?: number | undefined
  readonly toMs?: number | undefined
  readonly agent?: AgentName | undefined
  readonly agentVersion?: AgentVersionName | undefined
  readonly person?: PersonId | undefined
  /** The model that was asked for, or the one that answered. */
  readonly model?: string | undefined
  readonly api?: Api | undefined
  /** Only calls of these people, or of one. */
  readonly people?: ReadonlyArray<PersonId> | undefined
  /** Undefined for the order of their keys. Groups of sessions are not sorted. */
  readonly sort?: Sort | undefined
  /** Of a sort. */
  readonly order?: Order | undefined
  /** The keys of the last group of the page before. Where groups are sorted, how many were on the pages before. */
  readonly after?: ReadonlyArray<GroupKey> | undefined
  /** At least 1. */
  readonly limit: number
  /** Whether all groups together are wanted too. */
  readonly hasTotal?: boolean | undefined
}

export interface UsagePage {
  readonly groups: ReadonlyArray<UsageGroup>
  /** The keys of the last group, which may be none of this page, if there may be more. */
  readonly next: ReadonlyArray<GroupKey> | undefined
  /** All groups together, where they are wanted, if there are any. */
  readonly total?: UsageGroup | undefined
}

/**
 * Dimensions in the order in which groups are ordered: sessions before people before all others, because what is kept is in
 * this order, and a page costs what it lists then.
 */
export const orderOf = (groupBy: ReadonlyArray<Dimension>): ReadonlyArray<Dimension> => {
  const first: ReadonlyArray<Dimension> = ["session", "person"]
  return [...first.filter((each) => groupBy.includes(each)), ...groupBy.filter((each) => !first.includes(each))]
}
