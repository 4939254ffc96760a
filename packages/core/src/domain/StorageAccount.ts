/** What a storage counts, beside the rows that it counts. Each account is of one snapshot, so that its figures must agree. */
import type { AgentName } from "./Agent.ts"
import type { EventId } from "./Event.ts"
import type { SessionId } from "./Session.ts"

/** The rows of one session number. */
export interface SessionAccount {
  /** Undefined if there is no such session, only rows that name its number. */
  readonly session: CountedSession | undefined
  /** One entry for each agent that events, packs or counters name. */
  readonly usage: ReadonlyArray<UsageAccount>
  /** The highest number of a pack; 0 if there is none. */
  readonly lastPack: number
  /** The first packs, at most `maxListed`, that have no event and no steps, although they are not marked as erased. */
  readonly packsWithoutEvent: ReadonlyArray<number>
  /** The first events, at most `maxListed`, whose pack is missing or marked as erased. */
  readonly eventsWithoutPack: ReadonlyArray<EventId>
  /** How many steps it has, and the first of their packs, at most `maxListed`, that are missing or not marked as those of steps. */
  readonly steps: number
  readonly stepsWithoutPack: ReadonlyArray<number>
  /** The shared pieces that it owns, and whether they exist. */
  readonly owned: ReadonlyArray<{ readonly sha256: Uint8Array; readonly exists: boolean }>
}

export const maxListed = 100

/** Bytes that a session may have grown, besides an eighth, before it gets another place among the largest. */
export const rankStepBytes = 4_096

/** The counters in the session's row. */
export interface CountedSession {
  readonly id: SessionId
  readonly generation: number
  /** The last numbers of a pack, a history piece and a part. */
  readonly packs: number
  readonly history: number
  readonly parts: number
  readonly erasedPieces: number
  /** Bytes of its packs. */
  readonly storedBytes: number
  /** The size by which it is found among the largest: at most `storedBytes`, which is at most an eighth and `rankStepBytes` more. */
  readonly rankedBytes: number
  /** Greater than 0 while events were deleted whose payloads are not swept yet. */
  readonly pendingSweep: number
}

/** The usage of one agent in one session. */
export interface UsageAccount {
  readonly agent: number
  /** Undefined if there is no agent with this number. */
  readonly agentName: AgentName | undefined
  /** The counters, zero if there are none. */
  readonly kept: UsageTotals
  /** What the rows add up to. How much of it was new is known only to who opens the packs. */
  readonly counted: {
    readonly events: number
    readonly sentBytes: number
    readonly packs: number
    readonly storedBytes: number
  }
}

export interface UsageTotals {
  readonly events: number
  readonly sentBytes: number
  readonly newBytes: number
  readonly storedBytes: number
}

export interface ProjectAccount {
  /** The usage of the shared pieces, which are counted in place of events. Nothing of them counts as sent. */
  readonly shared: { readonly kept: UsageTotals; readonly counted: UsageTotals }
  readonly numbers: ReadonlyArray<NumberAccount>
  /** For each agent: its counters, and the sums of its counters in the sessions. */
  readonly agents: ReadonlyArray<Omit<UsageAccount, "counted"> & { readonly counted: UsageTotals }>
}

/** The last number given to an agent, a person, a session, or a version of an agent, beside the highest one in use. */
export interface NumberAccount {
  readonly of: "agents" | "people" | "sessions" | "versions"
  /** The agent, for versions. */
  readonly agent?: AgentName
  readonly kept: number
  readonly highest: number
}
