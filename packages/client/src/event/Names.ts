/** Names of sessions, agents, versions and people that an application gives. No call is lost for one that an event cannot have. */
import { allowed, isTooLong, shortened } from "@tachograph/capture/Names"
import type { Said } from "@tachograph/capture/Programs"
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

/** What groups a call: as the application says, else as the program does that makes it. That one says a version of itself only. */
export const groupingOf = async ({ agent, agentVersion, person, session }: Grouping, said: Said) => {
  const given = await nameOf(agent)
  return {
    session: (await nameOf(session)) ?? (await nameOf(said.session)),
    agent: given ?? said.agent,
    agent_version: (await nameOf(agentVersion)) ?? (given === undefined ? await nameOf(said.version) : undefined),
    person: await nameOf(person),
    subagent: await nameOf(said.subagent)
  }
}
