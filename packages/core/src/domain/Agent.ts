import * as Schema from "effect/Schema"
import { Name } from "./Name.ts"

export const AgentName = Name.pipe(Schema.brand("AgentName"))
export type AgentName = typeof AgentName.Type

/** The agent of an event that does not name one. */
export const defaultAgentName = AgentName.make("default")

export class Agent extends Schema.Class<Agent>("Agent")({
  name: AgentName,
  /** Numbered from 1 within the project, without gaps. */
  number: Schema.Int,
  createdAt: Schema.DateTimeUtcFromString,
  description: Schema.String,
  /** Whether only events have named it so far: the first PUT gives it its description. Absent if not. */
  isNamedOnly: Schema.optionalKey(Schema.Boolean)
}) {}
