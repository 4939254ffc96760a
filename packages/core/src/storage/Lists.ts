/** Lists: where a page starts, where it ends, and what is in it. */
import type { AgentName } from "../domain/Agent.ts"
import type { AgentVersionName } from "../domain/AgentVersion.ts"
import type { EventId, EventSummary } from "../domain/Event.ts"
import type { FailureKey } from "../domain/Failure.ts"
import type { PersonId } from "../domain/Person.ts"
import type { SessionId } from "../domain/Session.ts"
import type { CallSort } from "../domain/Sort.ts"

/** A page of a list whose rows have keys in ascending order. */
export interface ListQuery<Key> {
  /** Starts after this key. */
  readonly after: Key | undefined
  /** At least 1. */
  readonly limit: number
  /** The bytes of free text that the rows have at most in total; a page has one row at least, if there are any. */
  readonly maxBytes: number
}

/** Most bytes of free text in one page. Descriptions and properties may each be as long as a body. */
export const maxPageBytes = 1024 * 1024

export interface ListPage<Row, Key> {
  readonly rows: ReadonlyArray<Row>
  /** The key after which the next page starts; undefined on the last page. */
  readonly next: Key | undefined
}

type EqualField = "api" | "fingerprintId" | "traceId" | "stopReason" | "providerStopReason"

/** Fields of the events themselves by which a list can be filtered. All that are given must match. */
export type FieldFilter = {
  readonly [Field in EqualField]?: NonNullable<EventSummary[Field]> | undefined
} & {
  /** The model that was asked for, or the one that answered. */
  readonly model?: string | undefined
  /** Whether the output is an error. */
  readonly isError?: boolean | undefined
  /** How the call failed. */
  readonly failure?: FailureKey | undefined
}

/** Where a call is in a list that is sorted by a figure. */
export interface EventRank {
  readonly value: number
  readonly id: EventId
}

/** Calls sorted by a figure: `desc` for the largest first. */
export interface EventRanking extends Omit<EventQuery, "after"> {
  readonly sort: Exclude<CallSort, "last">
  readonly fields: FieldFilter
  /** The last call of the page before. */
  readonly after?: EventRank | undefined
}

/** Entries of the audit log by their ids, which are in the order of their times. */
export interface AuditQuery {
  /** Only ids that are greater than this one. */
  readonly above?: string | undefined
  /** Only ids that are less than this one. */
  readonly below?: string | undefined
  /** At least 1. */
  readonly limit: number
}

export interface EventQuery {
  readonly session?: SessionId | undefined
  readonly agent?: AgentName | undefined
  readonly agentVersion?: AgentVersionName | undefined
  readonly person?: PersonId | undefined
  readonly order: "asc" | "desc"
  /** Starts after this id, in the query's order. */
  readonly after?: EventId | undefined
  /** Only ids that are greater than this one. */
  readonly above?: EventId | undefined
  /** Only ids that are less than this one. */
  readonly below?: EventId | undefined
  /** Only calls that took place at this time or later, and before this time (epoch ms). */
  readonly fromMs?: number | undefined
  readonly toMs?: number | undefined
  /** At least 1. */
  readonly limit: number
}
