/** Which sessions a list has, and where a page of it begins. */
import type { AgentName } from "../domain/Agent.ts"
import type { AgentVersionName } from "../domain/AgentVersion.ts"
import type { EventId } from "../domain/Event.ts"
import type { PersonId } from "../domain/Person.ts"
import type { SessionRank } from "../domain/SessionRank.ts"
import type { Sort } from "../domain/Sort.ts"
import type { Rank } from "./Ranking.ts"
import type { SessionSummary } from "../domain/SessionSummary.ts"

/** A session matches if one kind of its calls has all of the names. */
export interface SessionFilter {
  readonly agent?: AgentName | undefined
  readonly agentVersion?: AgentVersionName | undefined
  readonly person?: PersonId | undefined
  /** The model that was asked for, or the one that answered. */
  readonly model?: string | undefined
  /** Whether any call of the session is an error. */
  readonly isError?: boolean | undefined
}

/**
 * A place in a list of sessions. The list is in the order of what was each session's last call when it was begun, so that a
 * session in which calls are recorded meanwhile stays where it is: events that become visible late move none.
 */
export interface SessionPlace {
  /** No event appears up to this one any more, unless it is imported. Sessions are listed by their last calls up to it. */
  readonly asOf: EventId
  /** The rank of the session that was looked at last; undefined if none was. */
  readonly last: SessionRank | undefined
  /** The ranks of the sessions that had later events when the list was begun, in ascending order. They are not listed by those up to `asOf`. */
  readonly recent: ReadonlyArray<SessionRank>
  /** Undefined while the list is in the order of last calls. */
  readonly scan?: SessionScan | undefined
}

/**
 * Where a list goes on in the order of recording, which it does to its end from where it has to look at the events themselves. It has
 * the sessions whose ranks follow the place's `last`.
 */
interface SessionScan {
  /** The event that was looked at last, of those up to `asOf`. */
  readonly at: EventId
  /** How many of the place's `recent` sessions were given since: the first ones in descending order, the last ones in ascending order. */
  readonly given: number
}

export interface SessionQuery extends SessionFilter {
  /** By the last calls. */
  readonly order: "asc" | "desc"
  readonly after?: SessionPlace | undefined
  /** Only sessions whose last call took place at this time (epoch ms) or later. */
  readonly fromMs?: number | undefined
  /** Only sessions whose last call took place before this time (epoch ms). */
  readonly toMs?: number | undefined
  /** At least 1. */
  readonly limit: number
}

/** Sessions sorted by what their calls add up to. A session whose figures change while pages are read may be on two of them, or on none. */
export interface SessionRanking extends SessionFilter, Pick<SessionQuery, "order" | "fromMs" | "toMs" | "limit"> {
  readonly sort: Sort
  /** The last session of the page before. */
  readonly after?: Rank | undefined
}

/** What a storage says of a session. */
export interface StoredSession extends Omit<SessionSummary, "title"> {
  /** That of the first call. */
  readonly firstEvent: EventId
}
