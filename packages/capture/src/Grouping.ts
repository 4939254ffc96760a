/** What groups a call, and what an event says of how it was recorded: one rule for the client and the proxy. */
import { allowed } from "./Names.ts"
import type { ProgramNames } from "./Programs.ts"

/** The fields of an event that group calls, and the sub-agent of a program that makes them. */
export interface Grouping {
  readonly session?: string | undefined
  readonly agent?: string | undefined
  readonly agent_version?: string | undefined
  readonly person?: string | undefined
  readonly subagent?: string | undefined
}

/**
 * As it is given, else as the program says that makes the call. That one says a version of itself, not of an agent with another name. An
 * empty name is none, and `cut` shortens one that is too long.
 */
export const groupingOf = (
  given: Omit<Grouping, "subagent">,
  said: ProgramNames,
  cut: (name: string) => string = (name) => name
): Grouping => {
  const named = (name: string | undefined) => (name === undefined || name === "" ? undefined : cut(allowed(name)))
  const agent = named(given.agent)
  return {
    session: named(given.session) ?? named(said.session),
    agent: agent ?? said.agent,
    agent_version: named(given.agent_version) ?? (agent === undefined ? named(said.version) : undefined),
    person: named(given.person),
    subagent: named(said.subagent)
  }
}

export interface Recorded {
  /** How many parts of it were masked. */
  readonly redacted?: number
  /** Which sub-agent of the program made the call. */
  readonly subagent?: string
  /** The answer came to a later request. */
  readonly retrieved?: boolean
  /** The payload is another one than was sent, made of that. */
  readonly rebuilt?: boolean
}

/** Undefined where there is nothing to say. */
export const recordedOf = (
  redacted: number,
  subagent: string | undefined,
  others: Recorded | undefined
): Recorded | undefined => {
  const recorded = {
    ...(redacted === 0 ? {} : { redacted }),
    ...(subagent === undefined ? {} : { subagent }),
    ...others
  }
  return Object.keys(recorded).length === 0 ? undefined : recorded
}
