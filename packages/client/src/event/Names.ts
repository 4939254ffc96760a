/** Names of sessions, agents, versions and people that an application gives. No call is lost for one that an event cannot have. */
import * as Groupings from "@tachograph/capture/Grouping"
import { allowed, isTooLong, shortened } from "@tachograph/capture/Names"
import type { ProgramNames } from "@tachograph/capture/Programs"
import { sha256Of } from "../platform/Sha256.ts"
import type { Grouping } from "./Event.ts"

/** Empty where a value has no text, such as an object without a prototype. */
const textOf = (value: unknown): string => {
  try {
    return String(value ?? "")
  } catch {
    return ""
  }
}

/** A name as an event may have it, by the rule of the proxy's headers: an empty one is none, and one that is too long is cut. */
export const nameOf = async (value: unknown): Promise<string | undefined> => {
  const text = allowed(textOf(value))
  if (text === "") return undefined
  return isTooLong(text) ? shortened(text, await sha256Of(text)) : text
}

/** What groups a call, with the names of the wire. */
export const groupingOf = async ({ agent, agentVersion, person, session }: Grouping, said: ProgramNames) => {
  const given = {
    agent: textOf(agent),
    agent_version: textOf(agentVersion),
    person: textOf(person),
    session: textOf(session)
  }
  const names = Groupings.groupingOf(given, said)
  return {
    session: await nameOf(names.session),
    agent: await nameOf(names.agent),
    agent_version: await nameOf(names.agent_version),
    person: await nameOf(names.person),
    subagent: await nameOf(names.subagent)
  }
}
