import * as Schema from "effect/Schema"
import { Name } from "./Name.ts"

export const AgentVersionName = Name.pipe(Schema.brand("AgentVersionName"))
export type AgentVersionName = typeof AgentVersionName.Type

/** The version of an event that does not name one. */
export const defaultAgentVersionName = AgentVersionName.make("default")

export class AgentVersion extends Schema.Class<AgentVersion>("AgentVersion")({
  name: AgentVersionName,
  description: Schema.NullOr(Schema.String),
  /** Numbered from 1 within the agent, without gaps. */
  number: Schema.Int,
  createdAt: Schema.DateTimeUtcFromString,
  /** Null while the version is active. */
  deprecatedAt: Schema.NullOr(Schema.DateTimeUtcFromString),
  /** Whether only events have named it so far: the first PUT gives it its description. Absent if not. */
  isNamedOnly: Schema.optionalKey(Schema.Boolean)
}) {}
