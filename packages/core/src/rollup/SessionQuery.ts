/** Which sessions a list has, and where a page of it begins. */
import type { AgentName } from "../domain/Agent.ts"
import type { AgentVersionName } from "../domain/AgentVersion.ts"
import type { EventId } from "../domain/Event.ts"
import type { PersonId } from "../domain/Person.ts"
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
 * A place in a list of sessions. The list is in the order of what was each session's last event when it was begun, so that a
 * session in which calls are recorded meanwhile stays where it is: events that become visible late move none.
 */
export interface SessionPlace {
  /** No event appears up to this one any more, unless it is imported. Sessions are listed by their last events up to it. */
  readonly asOf: EventId
  /** The last event, up to `asOf`, of the session that was looked at last; undefined if none was. */
  readonly last: EventId | undefined
  /** The numbers of the sessions that had later events when the list was begun, in its order. They are not listed by those up to `asOf`. */
  readonly recent: ReadonlyArray<number>
  /** How many of them are behind the place. */
  readonly given: number
}

export interface SessionQuery extends SessionFilter {
  /** By the last events. */
  readonly order: "asc" | "desc"
  readonly after?: SessionPlace | undefined
  /** Only sessions whose last event is greater than this id. */
  readonly above?: EventId | undefined
  /** Only sessions whose last event is less than this id. */
  readonly below?: EventId | undefined
  /** At least 1. */
  readonly limit: number
}

/** What a storage says of a session. */
export interface StoredSession extends Omit<SessionSummary, "title"> {
  readonly firstEvent: EventId
}
