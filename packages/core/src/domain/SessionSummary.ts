import * as Schema from "effect/Schema"
import { AgentName } from "./Agent.ts"
import { AgentVersionName } from "./AgentVersion.ts"
import { PersonId } from "./Person.ts"
import { SessionId } from "./Session.ts"
import { sumFields } from "./Sums.ts"

/** A session in a list: who took part, and what its calls add up to. Names are in the order of their creation. */
export const SessionSummary = Schema.Struct({
  session: SessionId,
  /** The beginning of what a user said first; null if that cannot be read. */
  title: Schema.NullOr(Schema.String),
  /** When its first and its last call took place, as `CallTime` says. */
  firstEventAt: Schema.DateTimeUtcFromString,
  lastEventAt: Schema.DateTimeUtcFromString,
  ...sumFields,
  agents: Schema.Array(AgentName),
  agentVersions: Schema.Array(AgentVersionName),
  people: Schema.Array(PersonId),
  /** The models that were asked for, or that answered where that is not known. In alphabetical order. */
  models: Schema.Array(Schema.String),
  /** Bytes of the payloads, as sent by clients. */
  sentBytes: Schema.Int,
  /** Bytes of what was new in them, before compression. */
  newBytes: Schema.Int
})
export type SessionSummary = typeof SessionSummary.Type

/** Sessions that a cursor of their list names: those with events that were not settled when the list was begun. */
export const maxRecentSessions = 500
