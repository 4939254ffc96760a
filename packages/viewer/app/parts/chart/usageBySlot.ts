/** What calls of a period add up to, by its hours or days. */
import * as Lists from "../../server/Lists.ts"
import type { UsageRow } from "../../server/Types.ts"
import * as Period from "../Period.ts"

export interface UsageBySlot {
  readonly bySlot: ReadonlyArray<UsageRow>
  readonly kind: "agent" | "agent_version"
  /** By the names of that kind. */
  readonly byName: ReadonlyArray<UsageRow>
  readonly byModel: ReadonlyArray<UsageRow>
  /** All of it. */
  readonly whole: UsageRow | undefined
}

/** Of an agent, its versions are told apart; of all, the agents. */
export const read = async (
  period: Period.Period,
  filters: { readonly agent?: string; readonly agent_version?: string; readonly person?: string },
  signal: AbortSignal
): Promise<UsageBySlot> => {
  const kind = filters.agent === undefined ? "agent" : "agent_version"
  const asked = { ...Period.queryOf(period), ...filters }
  const [bySlot, byName, byModel] = await Promise.all([
    Lists.usage({ group_by: period.by, ...asked }, signal),
    Lists.usage({ group_by: `${period.by},${kind}`, ...asked }, signal),
    Lists.usage({ group_by: `${period.by},model`, ...asked }, signal)
  ])
  return { bySlot: bySlot.rows, kind, byName: byName.rows, byModel: byModel.rows, whole: bySlot.total }
}
