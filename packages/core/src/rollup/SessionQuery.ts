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
 * session in which calls are recorded meanwhile stays where it is.
 */
export interface SessionPlace {
  /** The newest event when the list was begun. Sessions without events up to this one are not in the list. */
  readonly asOf: EventId
  /** The session's last event up to that one. */
  readonly last: EventId
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
