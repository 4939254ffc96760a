/** What a storage keeps of what events say and add up to, and how it is made anew. */
import type { EventId } from "../domain/Event.ts"
import type { ProjectId } from "../domain/Project.ts"
import type { SessionId } from "../domain/Session.ts"
import type { Rank } from "../rollup/Ranking.ts"
import type { SessionPlace, SessionQuery, SessionRanking, StoredSession } from "../rollup/SessionQuery.ts"
import type { UsagePage, UsageQuery } from "../rollup/UsageQuery.ts"
import type { EventRank, EventRanking, ListPage } from "./Lists.ts"
import type { Result } from "./Result.ts"
import type { FactsChange, RulesInUse, StoredSummary } from "./Stored.ts"

/** Where the comparison of what is derived with the events goes on. */
export interface DerivedPlace {
  readonly kind: "day" | "week" | "session"
  /** When the day or the week begins, at the earliest (ms), or the number before that of the session. */
  readonly at: number
  /** What the events have made so far. */
  readonly rows: number
  /** The version of what is derived, if it has not changed since the beginning, and otherwise -1. Undefined at the beginning. */
  readonly version: number | undefined
}

export interface DerivedCheck {
  /** What is wrong with it: clauses without a full stop, which contain nothing of any row. */
  readonly damage: ReadonlyArray<string>
  /** Undefined at the end. */
  readonly next: DerivedPlace | undefined
}

export interface Derived {
  /**
   * Replaces facts and costs of events of one session, with the checksum of their fields. Leaves out events that were erased or
   * changed meanwhile, and those that are by these rules already. Returns how many it has replaced.
   */
  readonly replaceFacts: (
    project: ProjectId,
    session: number,
    rules: string,
    changes: ReadonlyArray<FactsChange>
  ) => Result<number>
  /** How many events are by which rules, from counters. */
  readonly rulesInUse: (project: ProjectId) => Result<ReadonlyArray<RulesInUse>>
  /**
   * Sessions in the order of their last calls. Looks at about 10,000 of them at most: then the page has fewer than `limit`, or none,
   * and `next` says where to go on.
   */
  readonly listSessions: (project: ProjectId, query: SessionQuery) => Result<ListPage<StoredSession, SessionPlace>>
  /** Sessions sorted by what their calls add up to, from some bytes of each. */
  readonly rankSessions: (project: ProjectId, query: SessionRanking) => Result<ListPage<StoredSession, Rank>>
  /**
   * The calls with the largest figures first, or the smallest; those without the figure are left out. Looks at the sessions that bound the
   * figures, those with the largest bounds first, until no other can have a call of the page: where few calls match, and for the smallest, at
   * those of every session.
   */
  readonly rankEvents: (project: ProjectId, query: EventRanking) => Result<ListPage<StoredSummary, EventRank>>
  /** Undefined if it does not exist, or has no events. */
  readonly sessionSummary: (project: ProjectId, session: SessionId) => Result<StoredSession | undefined>
  /** What events add up to, in groups. */
  readonly sumUsage: (project: ProjectId, query: UsageQuery) => Result<UsagePage>
  /**
   * Adds at most `limit` events to what the storage keeps to answer the three reads above, in one short transaction: those that
   * follow the last one, up to `upTo`, below which no event appears any more. Returns how many; none if another process
   * does the same. What is not added yet is read from the events themselves.
   */
  readonly deriveEvents: (project: ProjectId, upTo: EventId, limit: number) => Result<number>
  /** Forgets what `deriveEvents` has kept, so that it begins anew. */
  readonly dropDerived: (project: ProjectId) => Result<void>
  /**
   * Compares what `deriveEvents` has kept with the events, in steps of about a day of them. Leaves out what others change all the time
   * meanwhile.
   */
  readonly checkDerived: (project: ProjectId, after: DerivedPlace | undefined) => Result<DerivedCheck>
}
